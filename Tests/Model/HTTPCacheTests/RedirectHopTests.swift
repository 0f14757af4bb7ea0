import Clocks
import HTTPCache
import TestSupport
import Testing

@Suite("HTTP caching: what redirects say", .timeLimit(.minutes(1)))
struct RedirectHopTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private static let now: WallTime = 784_111_777_000
    private static let day: Int64 = 86_400

    struct Case: Sendable {
        let status: Int
        let control: String?
        /// Seconds that the end is fresh, which says a year.
        let fresh: Int64
        /// Whether the end may be used where its origin cannot be asked.
        var allowsStale = true
    }

    @Test(
        "A redirect limits the freshness of its target",
        arguments: [
            Case(status: 302, control: "max-age=60", fresh: 60),
            Case(status: 302, control: nil, fresh: 0), Case(status: 303, control: nil, fresh: 0),
            Case(status: 307, control: nil, fresh: 0),
            Case(status: 302, control: "no-store", fresh: 0, allowsStale: false),
            Case(status: 301, control: "no-cache", fresh: 0, allowsStale: false),
            Case(status: 301, control: "max-age=60, must-revalidate", fresh: 60, allowsStale: false),
            // For good, until it says otherwise: as long as any answer that says nothing.
            Case(status: 301, control: nil, fresh: 7 * day), Case(status: 308, control: nil, fresh: 7 * day),
            Case(status: 308, control: "max-age=99999999", fresh: 30 * day),
        ])
    func fresh(row: Case) {
        let sent: [(name: String, value: String)] = []
        let fields = ResponseFields(row.control.map { [(name: "cache-control", value: $0)] } ?? [])
        let hop = RedirectHop(fields, status: row.status, sent: sent, asked: Self.now)
        let end = ResponseFields([(name: "cache-control", value: "max-age=31536000"), (name: "etag", value: "\"a\"")])
        var policy = CachePolicy(end, sent: sent, now: Self.now)
        let rules = FreshnessRules()
        let alone = rules.freshUntil(policy, end, asked: Self.now)
        #expect(alone == Self.now + rules.ceiling)
        policy.control.redirects = [hop].restrictions
        #expect([hop].freshUntil(alone, rules, place: 0) == Self.now + .seconds(row.fresh))
        #expect(policy.allowsStale == row.allowsStale)
        // What is at the end may be kept, and asked for by its tag.
        #expect(!policy.control.noStore && !policy.conditions.isEmpty)
        // As a row keeps it.
        #expect(CacheControl([policy.control.text]) == policy.control)
    }

    @Test("Of several the shortest counts, and the floor of the settings holds for each")
    func several() {
        let hops = [60, 5, 20].map { seconds in
            RedirectHop(
                ResponseFields([(name: "cache-control", value: "max-age=\(seconds)")]), status: 302, sent: [],
                asked: Self.now)
        }
        var rules = FreshnessRules()
        #expect(hops.freshUntil(.distantFuture, rules, place: 0) == Self.now + 5_000)
        rules.floor = 10_000
        #expect(hops.freshUntil(.distantFuture, rules, place: 0) == Self.now + 10_000)
        #expect([RedirectHop]().freshUntil(7, rules, place: 0) == 7)
    }
}
