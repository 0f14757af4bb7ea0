import Canonical
import Clocks
import Failures
import Hosts
import Images
import Ledger
import Partition
import Ports
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("Hosts: how many fetches at once, and when they are left alone", .timeLimit(.minutes(1)))
struct OriginStateTests {
    private let host = OriginHost(of: "http://one.example/")
    private let good = OriginResponse.responded(bytes: 0)
    private let bad = OriginResponse.failed

    private func flight(_ number: Int) -> FlightID { FlightID(PartitionID(0), number) }

    private func state(_ change: (inout OriginRules) -> Void = { _ in }) -> OriginState {
        var rules = OriginRules()
        change(&rules)
        return OriginState(host, rules, most: 100)
    }

    /// One fetch, begun and answered at once.
    @discardableResult
    private func fetch(
        _ state: inout OriginState, _ answer: OriginResponse, at now: Instant = 0, number: Int = 1
    ) -> OriginState.Change? {
        state.begin(flight(number), isSlow: false, at: now)
        defer { state.end(flight(number), isSlow: false) }
        return state.note(answer, of: flight(number), because: "x", at: Moment(now))
    }

    @Test("It begins with two, and gets one more after as many good answers as it has, up to the ceiling")
    func grows() {
        var state = state()
        var limits: [Int] = []
        for _ in 0..<20 {
            limits.append(state.limit)
            fetch(&state, good)
        }
        #expect(limits == [2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6])
    }

    @Test(
        "Where it begins depends on its ceiling",
        arguments: [(1, 1), (2, 2), (6, 2), (8, 2), (12, 3), (64, 16), (400, 25)])
    func start(ceiling: Int, start: Int) {
        #expect(state { $0.concurrency = ceiling }.limit == start)
    }

    @Test("Fetches that were under way together halve it once, and those that began later again")
    func halves() {
        var state = state {
            ($0.start, $0.failures) = (6, 0)
        }
        for number in 1...6 { state.begin(flight(number), isSlow: false, at: 0) }
        for number in 1...3 { _ = state.note(bad, of: flight(number), at: Moment(0)) }
        #expect(state.limit == 3 && state.slowed?.from == 6)
        state.begin(flight(7), isSlow: false, at: 0)
        _ = state.note(bad, of: flight(7), at: Moment(0))
        #expect(state.limit == 1)
        fetch(&state, bad)
        #expect(state.limit == 1)
        for _ in 0..<15 { fetch(&state, good) }
        #expect(state.limit == 6 && state.slowed == nil)
    }

    @Test("Slow flights hold a third at most, and one at least", arguments: [(1, 1), (2, 1), (5, 1), (6, 2), (64, 21)])
    func slow(limit: Int, slow: Int) {
        var state = state { ($0.concurrency, $0.start) = (limit, limit) }
        for number in 0..<slow {
            #expect(state.mayBegin(isSlow: true, at: 0))
            state.begin(flight(number), isSlow: true, at: 0)
        }
        #expect(!state.mayBegin(isSlow: true, at: 0) && state.mayBegin(isSlow: false, at: 0) == (limit > slow))
    }

    @Test(
        "It is left alone after five failures in a row, or half of twenty",
        arguments: [
            ("----", false), ("-----", true), ("+-+-+-+-+-+-+-+-+-+", false), ("+-+-+-+-+-+-+-+-+-+-", true),
            ("-++-++-++-++-++-++-++-++-++-++", false), ("----+----", false), ("++++++++++++++++++++++++-----", true),
        ])
    func breaker(answers: String, isBlocked: Bool) {
        var state = state()
        for answer in answers { fetch(&state, answer == "+" ? good : bad) }
        #expect((state.phase == .blocked(until: 30_000)) == isBlocked)
        #expect((state.phase == .open) != isBlocked)
    }

    @Test("One flight sees whether it answers again; each that fails makes the wait longer, up to ten minutes")
    func probes() {
        var state = state()
        for _ in 0..<5 { fetch(&state, bad) }
        var (now, waits): (Instant, [Int64]) = (0, [])
        for round in 1...25 {
            guard case .blocked(let until) = state.phase else { return #expect(Bool(false), "\(state.phase)") }
            waits.append((until - now).components.seconds)
            #expect(!state.mayBegin(isSlow: false, at: until - 1) && state.mayBegin(isSlow: true, at: until))
            now = until
            state.begin(flight(round), isSlow: true, at: now)
            #expect(!state.mayBegin(isSlow: false, at: now + 1_000_000) && state.phase == .probing(flight(round)))
            #expect(
                state.note(round < 25 ? bad : good, of: flight(round), at: Moment(now)) == (round < 25 ? nil : .opened))
            state.end(flight(round), isSlow: true)
        }
        #expect(waits == (1...25).map { min(600, 30 * Int64($0)) })
        #expect(state.phase == .open && state.limit == 1 && state.trouble == nil)
        // It flaps: the wait goes on from there, and begins anew after half an hour of quiet.
        for _ in 0..<5 { fetch(&state, bad, at: now) }
        #expect(state.phase == .blocked(until: now + 600_000))
        state.open(at: now)
        for _ in 0..<5 { fetch(&state, bad, at: now + 1_800_000) }
        #expect(state.phase == .blocked(until: now + 1_830_000))
    }

    @Test("A probe that tells nothing is followed by the next one at once, and what was under way tells nothing either")
    func untold() {
        var state = state()
        state.begin(flight(9), isSlow: false, at: 0)
        state.begin(flight(8), isSlow: false, at: 0)
        for _ in 0..<5 { fetch(&state, bad) }
        _ = state.note(good, of: flight(9), at: Moment(1))
        _ = state.note(.refused(after: nil, mayBeOfURL: false), of: flight(8), at: Moment(1))
        #expect(state.phase == .blocked(until: 30_000))
        fetch(&state, .unasked, at: 30_000)
        #expect(state.mayBegin(isSlow: false, at: 30_000))
    }

    @Test("It is left alone for as long as it says, a day at most, and by doubled waits where it does not say")
    func refusals() {
        var state = state()
        #expect(fetch(&state, .refused(after: 5_000, mayBeOfURL: false)) == .blocked)
        #expect(state.phase == .blocked(until: 5_000))
        var (now, waits): (Instant, [Int64]) = (5_000, [])
        for _ in 0..<13 {
            #expect(fetch(&state, .refused(after: nil, mayBeOfURL: false), at: now) == nil)
            guard case .blocked(let until) = state.phase else { return #expect(Bool(false)) }
            waits.append((until - now).components.seconds)
            now = until
        }
        #expect(waits == [60, 120, 240, 480, 960, 1_920, 3_840, 7_680, 15_360, 30_720, 61_440, 86_400, 86_400])
        var spread = OriginState(host, OriginRules(), most: 9)
        spread.begin(flight(1), isSlow: false, at: 0)
        _ = spread.note(.refused(after: nil, mayBeOfURL: false), of: flight(1), jitter: 0.5, at: Moment(0))
        #expect(spread.phase == .blocked(until: 63_000))
    }

    @Test("A 503 is a failure like others; a host that it closes is left alone for as long as one that asks for it")
    func busy() {
        let busy = OriginResponse.refused(after: nil, mayBeOfURL: true)
        var state = state()
        for _ in 0..<50 {
            for _ in 0..<4 { #expect(fetch(&state, busy) == nil && state.phase == .open) }
            for _ in 0..<6 { fetch(&state, good) }
        }
        for _ in 0..<4 { #expect(fetch(&state, busy) == nil) }
        #expect(fetch(&state, busy) == .blocked && state.phase == .blocked(until: 60_000))
        fetch(&state, busy, at: 60_000)
        #expect(state.phase == .blocked(until: 180_000))
        var mild = self.state { $0.backoff = 0 }
        for _ in 0..<4 { #expect(fetch(&mild, busy) == nil) }
        #expect(fetch(&mild, busy) == .blocked && mild.phase == .blocked(until: 30_000))
    }

    @Test("A host that answers much between its failures is left alone for no longer each time")
    func muchBetween() {
        for answers in [19, 20] {
            var (state, now, waits) = (state(), 0 as Instant, [Int64]())
            for _ in 0..<3 {
                for _ in 0..<5 { fetch(&state, bad, at: now) }
                guard case .blocked(let until) = state.phase else { return #expect(Bool(false)) }
                waits.append((until - now).components.seconds)
                now = until
                // The first is the probe's.
                for _ in 0...answers { fetch(&state, good, at: now) }
            }
            #expect(waits == (answers == 20 ? [30, 30, 30] : [30, 60, 90]))
        }
    }

    /// Wall clocks are the monotonic ones here.
    @discardableResult
    private func fail(
        _ state: inout OriginState, _ answer: OriginResponse, since: WallTime?, at now: Instant
    ) -> OriginState.Change? {
        state.begin(flight(1), isSlow: false, at: now)
        defer { state.end(flight(1), isSlow: false) }
        return state.note(answer, of: flight(1), failingSince: since, at: Moment(now))
    }

    private static let bare: [OriginResponse] = [.failed, .failing(for: 1), .refused(after: nil, mayBeOfURL: true)]

    @Test(
        "A job that fails again, whose host has answered others since, does not close it beside others",
        arguments: bare)
    func knownFault(answer: OriginResponse) {
        var state = state()
        fetch(&state, good, at: 1_000)
        let limit = state.limit
        // Never three quarters of twenty.
        for _ in 0..<20 {
            for _ in 0..<7 { #expect(fail(&state, answer, since: 999, at: 2_000) == nil) }
            for _ in 0..<3 { fetch(&state, good, at: 2_000) }
        }
        #expect(state.phase == .open && state.limit >= limit && state.trouble == nil)
        for _ in 0..<4 { #expect(fail(&state, answer, since: 2_000, at: 2_000) == nil) }
        #expect(fail(&state, answer, since: 2_000, at: 2_000) == .blocked)
    }

    @Test("Where nothing else is answered for a minute they close it, and for no longer each time", arguments: bare)
    func mostlyKnown(answer: OriginResponse) {
        var state = state()
        fetch(&state, good, at: 1_000)
        for _ in 0..<100 { #expect(fail(&state, answer, since: 999, at: 60_000) == nil) }
        var (now, asked, waits): (Instant, Int, [Int64]) = (61_000, 0, [])
        while waits.count < 4 {
            if state.mayBegin(isSlow: false, at: now) {
                asked += 1
                fail(&state, answer, since: 999, at: now)
                now += 1
            } else if case .blocked(let until) = state.phase, until > now + 1 {
                waits.append((until - now).components.seconds)
                now = until
            } else {
                now += 1
            }
        }
        #expect(waits == [29, 29, 29, 29])
        // The next one; then a few probes, one after another.
        #expect(asked == 1 + 3 * (RecentResponses.window + 1))
    }

    @Test("A probe by a job that failed before makes the wait no longer; the first try of another does")
    func triedProbe() {
        var state = state()
        for _ in 0..<5 { fetch(&state, bad) }
        var (now, waits): (Instant, [Int64]) = (0, [])
        for since in [1, 1, nil, 1, nil] as [WallTime?] {
            guard case .blocked(let until) = state.phase else { return #expect(Bool(false)) }
            waits.append((until - now).components.seconds)
            now = until
            fail(&state, bad, since: since, at: now)
        }
        #expect(waits == [30, 30, 30, 60, 60])
    }

    @Test("Without a breaker for failures, a host that answers 503 alone is left alone all the same")
    func busyWithoutBreaker() {
        var state = state { $0.failures = 0 }
        for _ in 0..<100 { fetch(&state, bad) }
        #expect(state.phase == .open)
        state = self.state { $0.failures = 0 }
        for _ in 0..<4 { fetch(&state, .refused(after: nil, mayBeOfURL: true)) }
        #expect(state.phase == .open)
        #expect(fetch(&state, .refused(after: nil, mayBeOfURL: true)) == .blocked)
    }

    @Test("What a host asks for itself counts, whoever hears it")
    func requestOfKnown() {
        for answer in [
            OriginResponse.refused(after: nil, mayBeOfURL: false), .refused(after: 40_000, mayBeOfURL: true),
        ] {
            var state = state()
            fetch(&state, good, at: 1_000)
            state.begin(flight(1), isSlow: false, at: 2_000)
            #expect(state.note(answer, of: flight(1), failingSince: 1, at: Moment(2_000)) == .blocked)
        }
    }

    @Test(
        "One that fails and asks to be left alone for a moment is, and its failures count: after each, until when nothing is asked",
        arguments: [
            // The fifth is the breaker's; its own wait counts where that is longer.
            ([5_000], 30_000, [5_000]), ([5_000, 1_000, 2_000, 3_000], 30_000, [5_000, 6_000, 8_000, 11_000]),
            ([1_000, 1_000, 1_000, 1_000, 1_000], 30_000, [1_000, 2_000, 3_000, 4_000, 34_000]),
            ([1_000, 1_000, 1_000, 1_000, 20_000], 200, [1_000, 2_000, 3_000, 4_000, 24_000]),
        ] as [([Duration], Duration, [Instant])])
    func shortWaits(waits: [Duration], pause: Duration, until: [Instant]) {
        var state = state { $0.pause = pause }
        var (now, ends): (Instant, [Instant]) = (0, [])
        for wait in waits {
            fetch(&state, .failing(for: wait), at: now)
            let times = (0...60_000).lazy.map { now + .milliseconds($0) }
            guard let end = times.first(where: { state.mayBegin(isSlow: false, at: $0) }) else { break }
            #expect(state.holding(isSlow: false, at: end - 1) == .breaker && state.limit == 1)
            ends.append(end)
            now = end
        }
        #expect(ends == until && (state.phase == .open) == (waits.count < 5))
        // A person's word ends it at once.
        state.open(at: now - 1)
        #expect(state.mayBegin(isSlow: false, at: now - 1))
    }

    @Test("What was under way when it was blocked may ask for a longer wait")
    func lateWait() {
        var state = state()
        state.begin(flight(9), isSlow: false, at: 0)
        for _ in 0..<5 { fetch(&state, bad) }
        #expect(state.note(.failing(for: 20_000), of: flight(9), at: Moment(15_000)) == nil)
        #expect(state.phase == .blocked(until: 35_000))
    }

    @Test("Somebody blocks it and opens it, whatever it does")
    func told() {
        var state = state()
        #expect(state.block(until: 3_600_000, because: "operator", by: "operator", at: Moment(0)) == .blocked)
        #expect(!state.mayBegin(isSlow: false, at: 3_599_999) && state.trouble?.code == "operator")
        state.open(at: 10)
        #expect(state.mayBegin(isSlow: false, at: 10))
    }

    @Test("A rate and a number of bytes a second hold it back")
    func paced() {
        var state = state {
            $0.limits["http://one.example"] = .init(concurrency: 50, rate: 10, bytesPerSecond: 1_000)
        }
        var begun: [Instant] = []
        for now in stride(from: 0, to: 2_000, by: 50).map({ Instant($0) }) where state.mayBegin(isSlow: false, at: now)
        {
            fetch(&state, .responded(bytes: 0), at: now)
            begun.append(now)
        }
        #expect((20...21).contains(begun.count))
        fetch(&state, .responded(bytes: 3_000), at: 10_000)
        #expect(!state.mayBegin(isSlow: false, at: 12_900) && state.mayBegin(isSlow: false, at: 13_100))
    }

    private static let url = SourceURL("http://one.example/a")
    /// Each way in which a fetch can fail: whether its host is at fault, and whether the source is remembered.
    static let failures: [(FetchFailure, OriginResponse, Remembrance?)] = [
        (.status(url: url, 404), .responded(bytes: 0), .absent), (.status(url: url, 410), .responded(bytes: 0), .gone),
        (.status(url: url, 403), .responded(bytes: 0), .absent),
        (.status(url: url, 418), .responded(bytes: 0), .absent),
        (.status(url: url, 408), .failed, nil), (.status(url: url, 500), .failed, nil),
        // Less than the breaker's own pause would switch that off if it did not count as a failure.
        (.status(url: url, 500, retryAfter: 9_000), .failing(for: 9_000), nil),
        (.status(url: url, 502, retryAfter: 29_000), .failing(for: 29_000), nil),
        (.status(url: url, 504, retryAfter: 30_000), .refused(after: 30_000, mayBeOfURL: true), nil),
        (.status(url: url, 504, retryAfter: 90_000), .refused(after: 90_000, mayBeOfURL: true), nil),
        (.status(url: url, 404, retryAfter: 9_000), .responded(bytes: 0), .absent),
        (.status(url: url, 429, retryAfter: 9_000), .refused(after: 9_000, mayBeOfURL: false), nil),
        (.status(url: url, 503), .refused(after: nil, mayBeOfURL: true), nil),
        (.resolution(url: url), .failed, nil), (.refusedName(url: url, address: "10.0.0.1"), .failed, nil),
        (.connection(url: url, reason: ""), .failed, nil), (.deadline(url: url, phase: ""), .failed, nil),
        (.truncated(url: url), .failed, nil), (.empty(url: url), .responded(bytes: 0), .absent),
        (.tooLarge(url: url, limit: 1), .responded(bytes: 0), .absent),
        (.badResponse(url: url, reason: ""), .responded(bytes: 0), .absent),
        (.encoded(url: url, encoding: ""), .responded(bytes: 0), .absent),
        (.redirects(url: url, limit: 5), .responded(bytes: 0), .absent),
        (.badRedirect(url: url, to: url), .responded(bytes: 0), .absent),
        // A 304 to a request without a condition: a host that answers, and a source that gives nothing.
        (.notModified(url: url), .responded(bytes: 0), .absent),
        (.refusedHost(url: url, host: "", isListed: true), .unasked, nil), (.invalidURL(url), .unasked, nil),
        (.refusedPort(url: url, port: 25), .unasked, nil),
        (.refusedAddress(url: url, address: "10.0.0.1"), .unasked, nil),
        (.noSpace(reason: ""), .unasked, nil), (.cancelled, .unasked, nil),
    ]

    @Test("What each failure tells of the host, and of the source", arguments: failures)
    func told(failure: FetchFailure, answer: OriginResponse, remembrance: Remembrance?) {
        let report = Unfetched(failure)
        #expect(report.response == answer && report.remembrance == remembrance && report.note == FailureNote(failure))
    }

    @Test("A picture that cannot be read is no fault of its host")
    func noPicture() {
        let report = Unfetched(RenderFailure.malformed(.jpeg, reason: "it is none"))
        #expect(report.response == .responded(bytes: 0) && report.remembrance == .absent)
    }
}
