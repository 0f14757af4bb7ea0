import Clocks
import HTTPCache

/// A private cache of the room's rules alone, and what a suite's origin answers it: no network, virtual time.
struct PrivateCache {
    struct Answer {
        var status: Int
        var fields: ResponseFields
        var body: String?
    }

    private struct Entry {
        var answer: Answer
        var policy: CachePolicy
        var freshUntil: WallTime
    }

    /// Asks the origin; nil where it ends the connection.
    typealias Ask = (_ headers: [(name: String, value: String)]) -> Answer?

    private var entries: [Entry] = []
    let rules: FreshnessRules

    init(_ rules: FreshnessRules) { self.rules = rules }

    mutating func answer(_ headers: [(name: String, value: String)], at now: WallTime, ask: Ask) -> Answer? {
        let known = entries.firstIndex { $0.policy.selection?.fits(headers) ?? true }
        guard let known else { return fetch(headers, nil, now, ask) }
        let entry = entries[known]
        if entry.policy.isReusable, now < entry.freshUntil { return entry.answer }
        if now < rules.whileRevalidate(entry.policy, from: entry.freshUntil) {
            _ = fetch(headers, known, now, ask)
            return entry.answer
        }
        let answer = fetch(headers, known, now, ask)
        let isLost = answer.map { $0.status >= 500 && $0.status < 600 } ?? true
        return isLost && entry.answer.status < 500 && now < rules.ifError(entry.policy, from: entry.freshUntil)
            ? entry.answer : answer
    }

    private mutating func fetch(
        _ headers: [(name: String, value: String)], _ known: Int?, _ now: WallTime, _ ask: Ask
    ) -> Answer? {
        let entry = known.map { entries[$0] }
        guard var answer = ask(headers + (entry?.policy.conditions ?? [])) else { return nil }
        let policy: CachePolicy
        if answer.status == 304, let entry, entry.policy.isConfirmed(by: answer.fields) {
            policy = entry.policy.updated(by: answer.fields, sent: headers, now: now)
            let said = answer.fields
            answer = entry.answer
            answer.fields = answer.fields.updated(by: said)
        } else {
            policy = CachePolicy(answer.fields, status: answer.status, sent: headers, now: now)
            // What failed does not take the place of what is good.
            if known != nil, answer.status >= 500 { return answer }
        }
        if let known { entries.remove(at: known) }
        guard !policy.control.noStore else { return answer }
        let freshUntil = rules.freshUntil(policy, answer.fields, status: answer.status, asked: now)
        entries.insert(Entry(answer: answer, policy: policy, freshUntil: freshUntil), at: 0)
        return answer
    }
}
