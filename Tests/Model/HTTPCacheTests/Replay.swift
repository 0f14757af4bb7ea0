import CacheSuite
import Clocks
import Foundation
import HTTPCache

/// One test of the suite, replayed against `PrivateCache`: its client, and what that checks (`test-engine/client/test.mjs` is the model).
enum Replay {
    private typealias Header = (name: String, value: String)

    private struct Wrong: Error {
        let isSetup: Bool
        let text: String
    }

    static func run(_ test: CacheSuite.Test) -> CacheSuite.Result {
        var rules = FreshnessRules()
        // The suite takes what says nothing to be stale at once.
        (rules.standard, rules.ceiling) = (.zero, .milliseconds(Int64.max))
        var cache = PrivateCache(rules)
        var now = WallTime(milliseconds: 1_700_000_000_000)
        var suite = SuiteOrigin(test)
        do {
            var answers: [PrivateCache.Answer] = []
            for (index, request) in test.requests.enumerated() {
                let sent = SuiteOrigin.headers(request["request_headers"], at: now)
                let answer = cache.answer(sent, at: now) { asked in
                    let asked = asked.map { (name: $0.name.lowercased(), value: $0.value) }
                    guard let (status, headers) = suite.answer(asked, to: index + 1, at: now) else { return nil }
                    let body = [204, 304].contains(status) ? nil : request["response_body"] as? String ?? "the token"
                    return PrivateCache.Answer(status: status, fields: ResponseFields(headers), body: body)
                }
                let lost = PrivateCache.Answer(status: 504, fields: ResponseFields([Header]()), body: "")
                answers.append(answer ?? lost)
                try check(answers[index], test.requests[index], index + 1)
                now += request["pause_after"] as? Bool == true ? .seconds(3) : .milliseconds(10)
            }
            try check(suite.seen, answers, test.requests)
            return .passed
        } catch let wrong as Wrong {
            return wrong.isSetup ? .unmet(wrong.text) : .failed(wrong.text)
        } catch { return .failed("\(error)") }
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
        _ seen: [SuiteOrigin.Seen], _ answers: [PrivateCache.Answer], _ requests: [[String: Any]]
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
            let conditions = ["etag_validated": "if-none-match", "lm_validated": "if-modified-since"]
            if let condition = type.flatMap({ conditions[$0] }) {
                try ensure(
                    asked?.value(condition) != nil, "has no \(condition)",
                    of: "expected_type")
            }
            for expected in request["expected_request_headers"] as? [Any] ?? [] {
                let pair = expected as? [Any] ?? [expected]
                let name = (pair[0] as? String ?? "").lowercased()
                let value = asked?.value(name)
                try ensure(value != nil, "has no \(name)", of: "expected_request_headers")
                if pair.count > 1 {
                    try ensure(value == pair[1] as? String, "has another \(name)", of: "expected_request_headers")
                }
            }
            for missing in request["expected_request_headers_missing"] as? [Any] ?? [] {
                let pair = missing as? [Any] ?? [missing]
                let value = asked?.value((pair[0] as? String ?? "").lowercased())
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

    private static func joined(_ fields: ResponseFields, _ name: String) -> String? {
        let values = fields.values(name.lowercased())
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
