/// A span of a job's trace, as OpenTelemetry defines it.
package struct Span: Sendable, Equatable {
    package enum Kind: Int, Sendable {
        case `internal` = 1
        case client = 3
        case consumer = 5
    }

    package enum Value: Sendable, Equatable {
        case string(String)
        case int(Int64)
    }

    package let trace: String
    package let id: String
    package let parent: String?
    package let name: String
    package let kind: Kind
    /// Time since 1970, finer than `WallTime`, as `end` is.
    package let begin: Duration
    package let end: Duration
    package let attributes: [(name: String, value: Value)]
    /// Reason for its failure; nil if it succeeded.
    package let failure: String?

    package init(
        trace: String, id: String, parent: String?, name: String, kind: Kind, begin: Duration, end: Duration,
        attributes: [(name: String, value: Value)] = [], failure: String? = nil
    ) {
        (self.trace, self.id, self.parent, self.name, self.kind) = (trace, id, parent, name, kind)
        (self.begin, self.end, self.attributes, self.failure) = (begin, max(begin, end), attributes, failure)
    }

    package static func == (a: Self, b: Self) -> Bool {
        (a.trace, a.id, a.parent, a.name, a.kind) == (b.trace, b.id, b.parent, b.name, b.kind)
            && (a.begin, a.end, a.failure) == (b.begin, b.end, b.failure)
            && a.attributes.elementsEqual(b.attributes, by: ==)
    }
}
