package import Clocks
internal import Foundation

/// The origin of one of the suite's tests, as its `handle-test.mjs` answers.
package struct SuiteOrigin: Sendable {
    package typealias Header = (name: String, value: String)

    package struct Seen: Sendable {
        /// Which of the client's requests it came for, from 1.
        package let number: Int
        package let at: WallTime
        /// Names in lower case.
        package let headers: [Header]
        package let saved: [Header]

        package func value(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    private struct Script: Sendable {
        let status: Int
        let confirms: Bool
        let disconnects: Bool
        let fields: [Field]
    }

    /// Names in lower case.
    private struct Field: Sendable {
        let name: String
        let text: String
        /// In dates: from now.
        let seconds: Int?
        let isSaved: Bool

        func header(_ now: WallTime) -> Header {
            (name, seconds.map { SuiteOrigin.date(now + .seconds($0)) } ?? text)
        }
    }

    private let scripts: [Script]
    package private(set) var seen: [Seen] = []

    package init(_ test: CacheSuite.Test) {
        scripts = test.requests.map { request in
            Script(
                status: (request["response_status"] as? [Any])?.first as? Int ?? 200,
                confirms: (request["expected_type"] as? String)?.hasSuffix("validated") == true,
                disconnects: request["disconnect"] as? Bool == true,
                fields: Self.fields(request["response_headers"]))
        }
    }

    /// - Parameters:
    ///   - asked: the request's headers, names in lower case.
    ///   - number: of the client's request, from 1.
    /// - Returns: names in lower case; nil where it ends the connection.
    package mutating func answer(
        _ asked: [Header], to number: Int, at now: WallTime
    ) -> (status: Int, headers: [Header])? {
        let script = scripts[number - 1]
        var status = script.status
        if script.confirms, number > 1 {
            // Its relative dates are of its own time.
            let before = scripts[number - 2].fields.map { $0.header(seen.last?.at ?? now) }
            let isKnown = [("last-modified", "if-modified-since"), ("etag", "if-none-match")].contains {
                said, condition in
                guard let value = before.first(where: { $0.name == said })?.value else { return false }
                return asked.contains { $0.name == condition && $0.value == value }
            }
            status = isKnown ? 304 : 999
        }
        let own: [Header] = [
            ("server-request-count", "\(seen.count + 1)"), ("client-request-count", "\(number)"),
            ("server-now", "\(now.milliseconds)"),
        ]
        let said = script.fields.map { $0.header(now) }
        let date: [Header] = said.contains { $0.name == "date" } ? [] : [("date", Self.date(now))]
        let saved = script.fields.filter(\.isSaved).map { $0.header(now) }
        seen.append(Seen(number: number, at: now, headers: asked, saved: saved))
        return script.disconnects ? nil : (status, own + date + said)
    }

    /// What a test says of headers. Numbers in dates are seconds from now.
    package static func headers(_ said: Any?, at now: WallTime) -> [Header] { fields(said).map { $0.header(now) } }

    private static func fields(_ said: Any?) -> [Field] {
        (said as? [[Any]] ?? []).map { field in
            Field(
                name: (field[0] as? String ?? "").lowercased(), text: field[1] as? String ?? "",
                seconds: field[1] as? Int, isSaved: field.count < 3 || field[2] as? Bool == true)
        }
    }

    private static func date(_ time: WallTime) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: Date(timeIntervalSince1970: Double(time.milliseconds / 1000)))
    }
}
