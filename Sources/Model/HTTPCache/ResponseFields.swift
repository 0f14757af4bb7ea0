/// Header fields of a response, with names in lower case and repeats in the order received.
package struct ResponseFields: Sendable, Hashable {
    package struct Field: Sendable, Hashable {
        package let name: String
        package let value: String
    }

    package private(set) var fields: [Field]

    /// - Parameter fields: names in lower case.
    package init(_ fields: some Sequence<(name: String, value: String)>) {
        self.fields = fields.map { Field(name: $0.name, value: $0.value) }
    }

    package func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The only value of a field; nil unless the response has exactly one.
    package func single(_ name: String) -> String? {
        let values = values(name)
        return values.count == 1 ? values[0] : nil
    }

    /// These fields updated by a 304, whose fields replace fields of the same name. Fields that describe a body are not
    /// taken over, because a 304 has no body (RFC 9111, 3.2).
    package func updated(by newer: ResponseFields) -> ResponseFields {
        let said = newer.fields.filter { !Self.ofBody.contains($0.name) && !Self.ofConnection.contains($0.name) }
        let names = Set(said.map(\.name))
        var updated = self
        updated.fields = fields.filter { !names.contains($0.name) } + said
        return updated
    }

    private static let ofBody: Set = ["content-length", "content-encoding", "content-type", "content-range"]
    private static let ofConnection: Set = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}
