import Foundation
import HTTPCache

/// One test of the suite: its origin, its client, and what that checks (`test-engine/client/test.mjs` is the model).
enum Replay {
    private typealias Header = (name: String, value: String)

    private struct Seen {
        let number: Int
        let at: Int64
        let headers: [Header]
        let saved: [Header]
    }

    private struct Wrong: Error {
        let isSetup: Bool
        let text: String
    }

    static func run(_ test: CacheSuite.Test) -> CacheSuite.Result {
        var rules = FreshnessRules()
        // The suite takes what says nothing to be stale at once.
        (rules.standard, rules.ceiling) = (0, .max)
        var cache = PrivateCache(rules)
        var now: Int64 = 1_700_000_000_000
        var seen: [Seen] = []
        do {
            var answers: [PrivateCache.Answer] = []
            for (index, request) in test.requests.enumerated() {
                let sent = headers(request["request_headers"], now)
                let answer = cache.answer(sent, at: now) { asked in
                    origin(test.requests, index, asked, now, &seen)
                }
                let lost = PrivateCache.Answer(status: 504, fields: AnswerFields([Header]()), body: "")
                answers.append(answer ?? lost)
                try check(answers[index], test.requests[index], index + 1)
                now += request["pause_after"] as? Bool == true ? 3_000 : 10
            }
            try check(seen, answers, test.requests)
            return .passed
        } catch let wrong as Wrong {
            return wrong.isSetup ? .unmet(wrong.text) : .failed(wrong.text)
        } catch { return .failed("\(error)") }
    }

    // As handle-test.mjs answers.
    private static func origin(
        _ requests: [[String: Any]], _ index: Int, _ asked: [Header], _ now: Int64, _ seen: inout [Seen]
    ) -> PrivateCache.Answer? {
        let request = requests[index]
        var status = (request["response_status"] as? [Any])?.first as? Int ?? 200
        if (request["expected_type"] as? String)?.hasSuffix("validated") == true, index > 0 {
            // Its relative dates are of its own time.
            let before = headers(requests[index - 1]["response_headers"], seen.last?.at ?? now)
            let isKnown = [("last-modified", "If-Modified-Since"), ("etag", "If-None-Match")].contains {
                said, condition in
                guard let value = before.first(where: { $0.name == said })?.value else { return false }
                return asked.contains { $0.name == condition && $0.value == value }
            }
            status = isKnown ? 304 : 999
        }
        let said = headers(request["response_headers"], now)
        let own: [Header] = [
            ("server-request-count", "\(seen.count + 1)"), ("client-request-count", "\(index + 1)"),
            ("server-now", "\(now)"),
        ]
        let date: [Header] = said.contains { $0.name == "date" } ? [] : [("date", httpDate(now))]
        let isSaved = (request["response_headers"] as? [[Any]] ?? []).map { $0.count < 3 || $0[2] as? Bool == true }
        seen.append(
            Seen(number: index + 1, at: now, headers: asked, saved: zip(said, isSaved).filter { $0.1 }.map { $0.0 }))
        if request["disconnect"] as? Bool == true { return nil }
        let body = [204, 304].contains(status) ? nil : request["response_body"] as? String ?? "the token"
        return PrivateCache.Answer(status: status, fields: AnswerFields(own + date + said), body: body)
    }

    private static func check(_ answer: PrivateCache.Answer, _ request: [String: Any], _ number: Int) throws {
        func ensure(_ holds: Bool, _ text: String, of member: String? = nil) throws {
            guard !holds else { return }
            throw Wrong(isSetup: member.map { isSetup(request, $0) } ?? true, text: "Response \(number) \(text)")
        }
        let served = answer.fields.single("server-request-count").flatMap { Int($0) }
        switch request["expected_type"] as? String {
        case "cached": try ensure(served.map { $0 < number } ?? false, "does not come from cache", of: "expected_type")
        case "not_cached": try ensure(served == number, "comes from cache", of: "expected_type")
        default: break
        }
        if let expected = request["expected_status"] {
            if let status = expected as? Int {
                try ensure(answer.status == status, "status is \(answer.status), not \(status)", of: "expected_status")
            }
        } else if let status = (request["response_status"] as? [Any])?.first as? Int {
            try ensure(answer.status == status, "status is \(answer.status), not \(status)")
        } else if answer.status == 999 {
            try ensure(false, "should have been asked for conditionally", of: "expected_type")
        } else {
            try ensure(answer.status == 200, "status is \(answer.status), not 200")
        }
        for expected in request["expected_response_headers"] as? [Any] ?? [] {
            let name = (expected as? String ?? (expected as? [Any])?.first as? String ?? "").lowercased()
            let value = joined(answer.fields, name)
            try ensure(value != nil, "has no \(name)", of: "expected_response_headers")
            if let pair = expected as? [Any], pair.count == 2, let wanted = pair[1] as? String {
                try ensure(value == wanted, "\(name) is \(value ?? "")", of: "expected_response_headers")
            }
        }
        for missing in request["expected_response_headers_missing"] as? [String] ?? [] {
            try ensure(joined(answer.fields, missing) == nil, "has \(missing)", of: "expected_response_headers_missing")
        }
        if request["check_body"] as? Bool == false { return }
        if let text = request["expected_response_text"] {
            try ensure(
                text is NSNull || text as? String == answer.body, "has another body", of: "expected_response_text")
        } else if let text = request["response_body"] as? String {
            try ensure(answer.body == text, "has another body")
        } else if answer.status != 204, answer.status != 304 {
            try ensure(answer.body == "the token", "has another body")
        }
    }

    private static func check(
        _ seen: [Seen], _ answers: [PrivateCache.Answer], _ requests: [[String: Any]]
    ) throws {
        var place = 0
        for (index, request) in requests.enumerated() {
            let type = request["expected_type"] as? String
            if type == "cached" { continue }
            let asked = seen.indices.contains(place) ? seen[place] : nil
            func ensure(_ holds: Bool, _ text: String, of member: String? = nil) throws {
                guard !holds else { return }
                throw Wrong(isSetup: member.map { isSetup(request, $0) } ?? true, text: "Request \(index + 1) \(text)")
            }
            if type == "not_cached" { try ensure(asked?.number == index + 1, "was not sent", of: "expected_type") }
            place += 1
            let conditions = ["etag_validated": "If-None-Match", "lm_validated": "If-Modified-Since"]
            if let condition = type.flatMap({ conditions[$0] }) {
                try ensure(
                    asked?.headers.contains { $0.name == condition } ?? false, "has no \(condition)",
                    of: "expected_type")
            }
            for expected in request["expected_request_headers"] as? [Any] ?? [] {
                let pair = expected as? [Any] ?? [expected]
                let name = (pair[0] as? String ?? "").lowercased()
                let value = asked?.headers.first { $0.name.lowercased() == name }?.value
                try ensure(value != nil, "has no \(name)", of: "expected_request_headers")
                if pair.count > 1 {
                    try ensure(value == pair[1] as? String, "has another \(name)", of: "expected_request_headers")
                }
            }
            for missing in request["expected_request_headers_missing"] as? [Any] ?? [] {
                let pair = missing as? [Any] ?? [missing]
                let value = asked?.headers.first { $0.name.lowercased() == (pair[0] as? String)?.lowercased() }?.value
                try ensure(
                    pair.count > 1 ? value != pair[1] as? String : value == nil, "has \(pair[0])",
                    of: "expected_request_headers_missing")
            }
            for name in Set(asked?.saved.map(\.name) ?? []).subtracting(["date"]) {
                let said = asked?.saved.filter { $0.name == name }.map(\.value).joined(separator: ", ")
                try ensure(joined(answers[index].fields, name) == said, "was answered with another \(name)")
            }
        }
    }

    private static func isSetup(_ request: [String: Any], _ member: String) -> Bool {
        request["setup"] as? Bool == true || (request["setup_tests"] as? [String] ?? []).contains(member)
    }

    private static func joined(_ fields: AnswerFields, _ name: String) -> String? {
        let values = fields.values(name.lowercased())
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Numbers in dates are seconds from now.
    private static func headers(_ said: Any?, _ now: Int64) -> [Header] {
        (said as? [[Any]] ?? []).map { field in
            let name = (field[0] as? String ?? "").lowercased()
            if let seconds = field[1] as? Int { return (name, httpDate(now + Int64(seconds) * 1000)) }
            return (name, field[1] as? String ?? "")
        }
    }

    private static func httpDate(_ milliseconds: Int64) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: Date(timeIntervalSince1970: Double(milliseconds / 1000)))
    }
}
