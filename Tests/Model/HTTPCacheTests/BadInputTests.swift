import Clocks
import HTTPCache
import TestSupport
import Testing

/// Every answer has a defined outcome, however odd its headers are.
@Suite("HTTP caching: odd headers", .timeLimit(.minutes(1)))
struct BadInputTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private static let now: WallTime = 784_111_777_000

    private static let longest = CacheControl.longest.components.seconds

    struct Case: Sendable, CustomTestStringConvertible {
        let what: String
        let headers: [(name: String, value: String)]
        /// Seconds that it is fresh; nil: as long as nothing was said.
        let fresh: Int64?
        var testDescription: String { what }
    }

    private static func of(_ what: String, _ headers: [(String, String)], fresh: Int64?) -> Case {
        Case(what: what, headers: headers.map { (name: $0.0, value: $0.1) }, fresh: fresh)
    }

    private static func control(_ values: String..., fresh: Int64?) -> Case {
        of(values.joined(separator: " / "), values.map { ("cache-control", $0) }, fresh: fresh)
    }

    static let cases: [Case] = [
        control("max-age=60", fresh: 60),
        control("MAX-AGE=60", fresh: 60),
        control("max-age=\"60\"", fresh: 60),
        control("max-age='60'", fresh: 0),
        control("max-age=-60", fresh: 0),
        control("max-age=60.5", fresh: 0),
        control("max-age=", fresh: 0),
        control("max-age", fresh: 0),
        control("max-age=60, max-age=5", fresh: 60),
        control("max-age=5", "max-age=60", fresh: 5),
        control("max-age=2147483649", fresh: longest),
        control("max-age=99999999999999999999", fresh: longest),
        control("x=\"max-age=60\"", fresh: nil),
        control("x=\"a, max-age=60", fresh: nil),
        control("x=\"a\\\", max-age=60\"", fresh: nil),
        control("s-maxage=60", fresh: nil),
        control(",,, ,max-age=60,", fresh: 60),
        control("no-cache=\"set-cookie\", max-age=60", fresh: 60),
        control("no-cache, max-age=60", fresh: 0),
        control("no-store, max-age=60", fresh: 0),
        control("no-store, must-understand, max-age=60", fresh: 60),
        of("nothing", [], fresh: nil),
        of("Vary: *", [("cache-control", "max-age=60"), ("vary", "Accept, *")], fresh: 0),
        of("an age", [("cache-control", "max-age=60"), ("age", "50")], fresh: 10),
        of("an age above it", [("cache-control", "max-age=60"), ("age", "70")], fresh: 0),
        of("an age above 2^31", [("cache-control", "max-age=60"), ("age", "4294967296")], fresh: 0),
        of("a negative age", [("cache-control", "max-age=60"), ("age", "-50")], fresh: 60),
        of("two ages", [("cache-control", "max-age=60"), ("age", "50"), ("age", "0")], fresh: 10),
        of("Expires in the year 9999", [("expires", "Fri, 31 Dec 9999 23:59:59 GMT")], fresh: longest),
        of("Expires in the past", [("expires", "Sun, 06 Nov 1994 08:49:36 GMT")], fresh: 0),
        of("Expires: 0", [("expires", "0")], fresh: 0),
        of(
            "Expires twice",
            [("expires", "Sun, 06 Nov 1994 09:49:37 GMT"), ("expires", "Sun, 06 Nov 1994 09:49:37 GMT")], fresh: 0),
        of(
            "a clock an hour behind",
            [("date", "Sun, 06 Nov 1994 07:49:37 GMT"), ("cache-control", "max-age=60")], fresh: 60),
        of(
            "a clock an hour ahead",
            [("date", "Sun, 06 Nov 1994 09:49:37 GMT"), ("expires", "Sun, 06 Nov 1994 09:50:37 GMT")], fresh: 60),
        of(
            "an hour in another cache that tells no age",
            [("date", "Sun, 06 Nov 1994 07:49:37 GMT"), ("cache-control", "max-age=3660"), ("via", "1.1 a")], fresh: 60),
        of("changed an hour ago", [("last-modified", "Sun, 06 Nov 1994 07:49:37 GMT")], fresh: 360),
        of("changed long ago", [("last-modified", "Thu, 01 Jan 1970 00:00:00 GMT")], fresh: 3 * 86_400),
        of("changed in time to come", [("last-modified", "Fri, 31 Dec 9999 23:59:59 GMT")], fresh: nil),
        of("a date of another zone", [("last-modified", "Sun, 06 Nov 1994 07:49:37 CET")], fresh: nil),
    ]

    @Test("Freshness is what the headers say, or none", arguments: cases)
    func freshness(_ odd: Case) {
        var rules = FreshnessRules()
        (rules.ceiling, rules.standard) = (.milliseconds(Int64.max), 7_777_000)
        let fields = ResponseFields(odd.headers)
        let policy = CachePolicy(fields, sent: [], now: Self.now)
        #expect(rules.freshUntil(policy, fields, asked: Self.now) == Self.now + .seconds(odd.fresh ?? 7_777))
    }

    @Test(
        "Floor and ceiling hold what origins say, and where they say nothing, but not what forbids reuse",
        arguments: [
            ("max-age=5", 600), ("max-age=0", 600), ("max-age=700", 700), ("max-age=99999", 3_600), ("no-cache", 0),
            ("no-store", 0), ("", 3_600),
        ] as [(String, Int64)])
    func bounds(_ control: String, seconds: Int64) {
        var rules = FreshnessRules()
        (rules.floor, rules.ceiling, rules.standard) = (600_000, 3_600_000, 7_777_000)
        let fields = ResponseFields([(name: "cache-control", value: control)])
        let policy = CachePolicy(fields, sent: [], now: 0)
        #expect(rules.freshUntil(policy, fields, asked: Self.now) == Self.now + .seconds(seconds))
    }

    @Test(
        "What is ours in a lifetime is up to a tenth apart by source, never beyond what the origin or the ceiling says",
        arguments: [
            ("max-age=2000", nil, 2_000, 2_000), ("max-age=3600", nil, 3_600, 3_420), ("", nil, 3_000, 2_850),
            ("", "Sun, 06 Nov 1994 03:49:37 GMT", 1_800, 1_710), ("max-age=5", nil, 600, 630),
            ("no-cache", nil, 0, 0), ("max-age=620", nil, 620, 620),
        ] as [(String, String?, Int64, Int64)])
    func spread(_ control: String, changed: String?, first: Int64, middle: Int64) {
        var rules = FreshnessRules()
        (rules.floor, rules.ceiling, rules.standard) = (600_000, 3_600_000, 3_000_000)
        let fields = ResponseFields(
            [(name: "cache-control", value: control)] + (changed.map { [(name: "last-modified", value: $0)] } ?? []))
        let policy = CachePolicy(fields, sent: [], now: Self.now)
        let fresh = { (rules: FreshnessRules, place: Double) in
            rules.freshUntil(policy, fields, asked: Self.now, place: place) - Self.now
        }
        #expect(fresh(rules, 0) == .seconds(first) && fresh(rules, 0.5) == .seconds(middle))
        rules.ceiling = rules.floor
        for place in [0, 0.5, 0.999] { #expect(fresh(rules, place) <= 600_000) }
    }

    @Test(
        "Validators are kept as they came, if a request can carry them",
        arguments: [
            ("\"a\"", "\"a\""), ("W/\"a\"", "W/\"a\""), ("a", "a"), ("", nil), ("\"\u{7}\"", nil),
            ("\"\u{FFFD}\"", nil),
            ("\"" + String(repeating: "a", count: 10_240) + "\"", nil),
        ] as [(String, String?)])
    func entityTags(_ said: String, kept: String?) {
        let policy = CachePolicy(ResponseFields([(name: "etag", value: said)]), sent: [], now: 0)
        #expect(policy.etag == kept)
        #expect(policy.conditions.map(\.value) == (kept.map { [$0] } ?? []))
    }

    @Test("Nothing is kept to ask by of what may not be stored, nor of two tags")
    func noValidators() {
        let forbidden = [(name: "etag", value: "\"a\""), (name: "cache-control", value: "no-store")]
        #expect(CachePolicy(ResponseFields(forbidden), sent: [], now: 0).conditions.isEmpty)
        let two = [(name: "etag", value: "\"a\""), (name: "etag", value: "\"b\"")]
        #expect(CachePolicy(ResponseFields(two), sent: [], now: 0).conditions.isEmpty)
    }

    @Test("A 304 changes what it says, keeps the rest, and counts only for the tag that was asked for")
    func notModified() throws {
        let stored = CachePolicy(
            ResponseFields([
                (name: "etag", value: "\"a\""), (name: "cache-control", value: "max-age=60, must-revalidate"),
                (name: "last-modified", value: "Sun, 06 Nov 1994 07:49:37 GMT"),
            ]), sent: [], now: Self.now)
        let silent = stored.updated(by: ResponseFields([]), sent: [], now: Self.now)
        #expect(silent == stored)
        let longer = ResponseFields([(name: "cache-control", value: "max-age=90"), (name: "etag", value: "W/\"a\"")])
        let updated = stored.updated(by: longer, sent: [], now: Self.now)
        #expect(updated.control.maxAge == .seconds(90) && !updated.control.mustRevalidate && updated.etag == "W/\"a\"")
        #expect(updated.lastModified == stored.lastModified)
        #expect(stored.isConfirmed(by: longer) && stored.isConfirmed(by: ResponseFields([])))
        #expect(!stored.isConfirmed(by: ResponseFields([(name: "etag", value: "\"b\"")])))
        let forgotten = stored.updated(
            by: ResponseFields([(name: "cache-control", value: "no-store")]), sent: [], now: Self.now)
        #expect(forgotten.conditions.isEmpty)
    }

    @Test(
        "What is stale may stand in as its origin and the settings let it",
        arguments: [
            ("max-age=5", 0, 7 * 86_400), ("max-age=5, stale-if-error=60", 0, 60), ("max-age=5, must-revalidate", 0, 0),
            ("no-cache", 0, 0), ("no-store", 0, 0), ("max-age=5, stale-while-revalidate=30", 30, 7 * 86_400),
            ("max-age=5, stale-while-revalidate=30, must-revalidate", 0, 0),
            ("max-age=5, stale-while-revalidate=-1, stale-if-error=x", 0, 0),
        ] as [(String, Int64, Int64)])
    func stale(_ control: String, whileRevalidate: Int64, ifError: Int64) {
        let policy = CachePolicy(ResponseFields([(name: "cache-control", value: control)]), sent: [], now: 0)
        let rules = FreshnessRules()
        #expect(rules.whileRevalidate(policy, from: 1_000) == 1_000 + .seconds(whileRevalidate))
        #expect(rules.ifError(policy, from: 1_000) == 1_000 + .seconds(ifError))
    }

    @Test(
        "What is stale may stand in while it is asked for again for as long as its origin says, else as the settings do",
        arguments: [
            ("max-age=5", 3_600), ("", 3_600), ("stale-while-revalidate=30", 30), ("stale-while-revalidate=0", 0),
            ("must-revalidate", 0), ("no-cache", 0), ("no-store", 0),
        ] as [(String, Int64)])
    func whileRevalidate(_ control: String, seconds: Int64) {
        var rules = FreshnessRules()
        rules.whileRevalidate = 3_600_000
        let policy = CachePolicy(ResponseFields([(name: "cache-control", value: control)]), sent: [], now: 0)
        #expect(rules.whileRevalidate(policy, from: 1_000) == 1_000 + .seconds(seconds))
    }

    @Test(
        "An answer fits requests that send what it depends on alike",
        arguments: [
            ("Accept", [("Accept", "image/*")], true), ("ACCEPT", [("accept", " image/* ")], true),
            ("Accept", [("Accept", "image/avif")], false), ("Accept", [], false), ("Cookie", [("Accept", "x")], true),
            ("Accept, Cookie", [("Accept", "image/*"), ("User-Agent", "b")], true),
            ("*", [("Accept", "image/*")], false), (",", [], true),
        ] as [(String, [(String, String)], Bool)])
    func selection(_ vary: String, later: [(String, String)], fits: Bool) {
        let selection = Selection(
            vary: [vary], sent: [(name: "Accept", value: "image/*"), (name: "User-Agent", value: "a")])
        #expect((selection?.fits(later.map { (name: $0.0, value: $0.1) }) ?? true) == fits)
    }

    @Test(
        "Dates are read in three forms, and only in those",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200), ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
            ("Friday, 01-Jan-44 00:00:00 GMT", 2_335_219_200), ("Friday, 01-Jan-45 00:00:00 GMT", -788_918_400),
            ("Wed, 29 Feb 2023 00:00:00 GMT", nil), ("Sun, 06 Nov 1994 24:00:00 GMT", nil),
            ("Sun, 6 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 94 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 08:49:37 UTC", nil), ("Sun, 06 Nov 1994 08:49:37 GMT ", nil),
            ("Sun 06 Nov 1994 08:49:37 GMT", nil), ("Sun, 06-Nov-1994 08:49:37 GMT", nil), ("0", nil), ("", nil),
            ("-1", nil),
        ] as [(String, Int64?)])
    func dates(_ text: String, seconds: Int64?) {
        #expect(HTTPDate(text, now: Self.now)?.time == seconds.map { WallTime(milliseconds: $0 * 1_000) })
    }
}
