package import Canonical
package import Clocks
package import Ledger
package import Records

/// One host, or one group of hosts: how many fetches it gets at once, and whether it is asked at all.
///
/// Its limit grows by one after as many good answers as it has, and is halved by an answer that says "too much". A host that
/// fails is left alone, longer each time that something new fails, until one flight has seen that it answers.
package struct OriginState: Sendable {
    /// This worker's own reason to leave it alone.
    package struct Judgement: Sendable, Equatable {
        package var until: Instant
        /// Until when the host has asked for it: that another worker got an answer does not end that.
        var wish: Instant
    }

    /// What another worker has told.
    private struct Hearsay: Sendable {
        var until: Instant
        let isWish: Bool
    }

    package private(set) var phase = Phase.open
    package private(set) var limit: Int
    /// Since it last answered well.
    package private(set) var trouble: Trouble?
    /// Its limit was halved, and is below what it was.
    package private(set) var slowed: (from: Int, trouble: Trouble)?
    /// Until when it is left alone by this worker's own judgement: what it tells others. What it heard from them they tell
    /// themselves: a block that each took over and told again would never end.
    package private(set) var judged: Judgement?
    /// Until when others have said so, by who said it.
    private var heard: [String: Hearsay] = [:]
    /// Fetches under way, and those of slow flights among them.
    package private(set) var inUse = (all: 0, slow: 0)
    package let ceiling: Int
    /// Fetches at once that this worker may have of the cluster's ceiling; see `HostSlots`.
    package private(set) var slots: Int
    /// When a flight last began.
    package private(set) var begunAt = Instant.distantPast
    /// A slow flight began last.
    private var owesFast = false
    /// The cluster's ceiling.
    private let slotCount: Int
    private let rules: OriginRules
    /// Between two fetches; nil: as they come.
    private let interval: Duration?
    private let timeForByte: Duration?

    /// Fetches under way, by the count of those begun before.
    private var begun: [FlightID: Int] = [:]
    package private(set) var count = 0
    /// Fetches that had begun before the limit was last halved: their answers do not halve it again.
    private var halvedAt = 0
    private var clean = 0
    private var recent = RecentAnswers()
    /// Failed probes in a row by jobs whose URLs are known to fail: so many as the window has follow one another at once.
    private var knownProbes = 0
    private var rounds = PauseRounds()
    private var openSince = Instant.distantPast
    /// When it last answered well.
    private var answeredAt: Instant?
    /// When the next fetch may begin.
    private var next = Instant.distantPast
    /// Until when it has asked to be left alone beside failures that count as such. Others are not told: it is over soon.
    private var pausedUntil = Instant.distantPast

    private static let minute = Duration.minutes(1)
    /// A host that is asked at a rate may be asked so much too early: ticks come in between.
    private static let slack = Duration.milliseconds(50)

    /// `most`: fetches that any one host may have of this worker's permits.
    package init(_ host: OriginHost, _ rules: OriginRules, most: Int, _ slots: HostSlots? = nil) {
        let own = rules.limits(of: host)
        self.rules = rules
        slotCount = rules.ceiling(of: host)
        self.slots = slots?.count(of: host) ?? .max
        ceiling = min(slotCount, most)
        interval = own.rate.map { .seconds(1) / max($0, 0.001) }
        timeForByte = own.bytesPerSecond.map { .seconds(1) / max($0, 1) }
        limit = 0
        limit = start
    }

    private var start: Int { min(ceiling, max(rules.start, ceiling / 4)) }

    /// So many of the host's slots are this worker's now.
    package mutating func own(slots: Int) { self.slots = slots }

    /// Slow flights hold a third of this worker's share at most, or one. A probe may be one more, of a third of its slots.
    package var slowLimit: Int { max(1, share / 3) }

    /// Whether an aged slow flight lets fast ones go first, once: after a slow one had the only fetch that this worker may have of
    /// it. Else fast ones would never have their turn beside a slow backlog that is old.
    package mutating func yieldsOnce() -> Bool {
        defer { owesFast = false }
        return owesFast && share == 1
    }

    /// Fetches at once that this worker may have of it.
    package var share: Int { min(limit, slots) }

    package func mayBegin(isSlow: Bool, at now: Instant) -> Bool {
        if inUse.all >= slots || (isSlow && inUse.slow >= max(1, slots / 3)) { return false }
        return switch phase {
        case .open: inUse.all < share && !(isSlow && inUse.slow >= slowLimit) && !isPaced(at: now)
        case .blocked(let until): now >= until
        case .probing: false
        }
    }

    /// What last held a flight back, and when.
    package private(set) var hold: (at: Instant, by: HostHold)?

    package mutating func note(_ by: HostHold, at now: Instant) { hold = (now, by) }

    /// What holds flights back now.
    package func holding(isSlow: Bool, at now: Instant) -> HostHold? {
        if mayBegin(isSlow: isSlow, at: now) { return nil }
        return phase != .open || now < pausedUntil ? .breaker : isPaced(at: now) ? .rate : .limit
    }

    /// Whether the next fetch must wait for time alone: for its rate, or a short wait that the host has asked for.
    package func isPaced(at now: Instant) -> Bool { now < pausedUntil || next > now + Self.slack }

    /// Whether flights had better wait elsewhere than in memory.
    package func isClosed(at now: Instant) -> Bool {
        switch phase {
        case .open: false
        case .blocked(let until): now < until
        case .probing: true
        }
    }

    package var blockedUntil: Instant { if case .blocked(let until) = phase { until } else { .distantPast } }

    /// For how long a flight waits that may not be asked now: as long as the trouble has lasted, or as is left of the block.
    package func wait(at now: Moment) -> Duration {
        let age = trouble.map { now.monotonic - $0.since.monotonic } ?? .zero
        guard case .blocked(let until) = phase else { return age }
        return max(age, until - now.monotonic)
    }

    package mutating func begin(_ flight: FlightID, isSlow: Bool, at now: Instant) {
        begun[flight] = count
        count += 1
        inUse = (inUse.all + 1, inUse.slow + (isSlow ? 1 : 0))
        (begunAt, owesFast) = (now, isSlow)
        if let interval { next = max(next, now) + interval * part }
        if case .blocked = phase { phase = .probing(flight) }
    }

    /// The flight's fetch is over. One that told nothing is as if it had not been.
    package mutating func end(_ flight: FlightID, isSlow: Bool) {
        inUse = (inUse.all - 1, inUse.slow - (isSlow ? 1 : 0))
        begun[flight] = nil
        if phase == .probing(flight) { phase = .blocked(until: max(Instant(nanoseconds: 0), pausedUntil)) }
    }

    /// Rates are the cluster's, too: by how much longer this worker waits than if it were alone.
    private var part: Double { Double(slotCount) / Double(min(max(1, slots), slotCount)) }

    package mutating func change(isSlow: Bool) { inUse.slow += isSlow ? 1 : -1 }

    /// How it answered a fetch that is under way.
    ///
    /// - Parameters:
    ///   - failingSince: since when the same job, which was tried before, has had no answer of its host; nil: this is
    ///     its first try. Where the host has answered others well since, the fault may be the URL's: a few such URLs,
    ///     tried again one after another, would close a host to all its jobs.
    ///   - jitter: 0..<1.
    package mutating func note(
        _ answer: OriginAnswer, of flight: FlightID, because code: String = "", failingSince: WallTime? = nil,
        jitter: Double = 0, at now: Moment
    ) -> Change? {
        guard let number = begun[flight] else { return nil }
        let isProbe = phase == .probing(flight)
        // Those that were under way when it was blocked tell nothing new, but for its own wish.
        let counts = phase == .open || isProbe
        let failed = Try(
            number: number, isProbe: isProbe, isFirst: failingSince == nil,
            isKnown: failingSince ?? .distantFuture < lastGood(now)?.wall ?? .distantPast)
        switch answer {
        case .unasked: return nil
        case .answered(let bytes):
            answeredAt = now.monotonic
            if let timeForByte { next = max(next, now.monotonic) + timeForByte * bytes * part }
            guard counts else { return nil }
            recent.add(isFailure: false)
            knownProbes = 0
            if isProbe {
                open(at: now.monotonic)
                return .opened
            }
            trouble = nil
            grow()
            return nil
        case .failed: return counts ? fail(failed, code, now) : nil
        case .failing(let wait):
            pausedUntil = max(pausedUntil, now.monotonic + wait)
            return counts ? fail(failed, code, now) : judge(until: pausedUntil, isWish: true)
        case .refused(nil, let mayBeOfURL) where rules.backoff == .zero || mayBeOfURL:
            return counts ? fail(failed, code, wish: rules.backoff == .zero ? nil : jitter, now) : nil
        case .refused(let after, _):
            guard counts || after != nil else { return nil }
            halve(number, code, now)
            forgive(now.monotonic)
            return judge(until: now.monotonic + (after ?? rounds.backoff(rules, jitter: jitter)), isWish: true)
        }
    }

    /// A fetch that failed.
    private struct Try {
        /// Fetches begun before it.
        let number: Int
        let isProbe: Bool
        /// Of its job.
        let isFirst: Bool
        /// Its URL failed before the host answered others.
        let isKnown: Bool
    }

    /// When it last answered well.
    private func lastGood(_ now: Moment) -> Moment? {
        answeredAt.map { Moment(wall: now.wall - (now.monotonic - $0), monotonic: $0) }
    }

    /// - Parameter wish: the jitter of its wish to be left alone; nil: it has none.
    private mutating func fail(_ failed: Try, _ code: String, wish: Double? = nil, _ now: Moment) -> Change? {
        recent.add(isFailure: true, isKnown: failed.isKnown)
        let most = rules.failures > 0 ? rules.failures : wish != nil ? OriginRules.usualFailures : nil
        if failed.isKnown { return failKnown(failed, code, mayClose: most != nil, now) }
        knownProbes = 0
        halve(failed.number, code, now)
        guard failed.isProbe || most.map(recent.isFailing) == true else { return nil }
        forgive(now.monotonic)
        let wait =
            wish.map { rounds.backoff(rules, jitter: $0, isFirst: failed.isFirst) }
            ?? rounds.pause(rules, isFirst: failed.isFirst)
        return judge(until: max(now.monotonic + wait, pausedUntil), isWish: wish != nil)
    }

    /// The fault may be the URL's: it closes the host only where most answers are failures and none was good for a minute, and
    /// for no longer than the last time. Within the minute it halves the limit.
    private mutating func failKnown(_ failed: Try, _ code: String, mayClose: Bool, _ now: Moment) -> Change? {
        if failed.isProbe, knownProbes < RecentAnswers.window {
            knownProbes += 1
            return nil
        }
        knownProbes = 0
        guard failed.isProbe || (mayClose && recent.isMostlyFailing) else { return nil }
        let good = lastGood(now) ?? now
        guard failed.isProbe || now.monotonic - good.monotonic >= Self.minute else {
            halve(failed.number, code, now)
            return nil
        }
        // Other workers pay no heed to it if they had a good answer since.
        note(code, good)
        return judge(until: max(now.monotonic + rounds.sameAgain(rules), pausedUntil), isWish: false)
    }

    private mutating func judge(until: Instant, isWish: Bool) -> Change? {
        let wish = isWish ? until : .distantPast
        judged = Judgement(
            until: max(until, judged?.until ?? .distantPast), wish: max(wish, judged?.wish ?? .distantPast))
        return close()
    }

    /// Somebody wants it to be left alone: a person, or another worker, whose judgement it is.
    ///
    /// One worker may fail to reach a host that answers all others. Its failures do not count for a worker that had a good
    /// answer since. A worker without one asks the host once itself when the first block ends.
    ///
    /// - Parameters:
    ///   - other: nil: this worker did, before it was started again.
    ///   - isWish: the host has asked for it, or a person wants it.
    ///   - age: for how long it has been in trouble.
    package mutating func block(
        until: Instant, because code: String, by other: String?, isWish: Bool = true, age: Duration = .zero,
        at now: Moment
    ) -> Change? {
        if !isWish, other != nil {
            if let answeredAt, answeredAt > now.monotonic - age { return nil }
            // A probe that is under way tells this worker more, and the other says so again.
            if case .probing = phase { return nil }
        }
        trouble = Trouble(
            since: trouble?.since ?? Moment(wall: now.wall - age, monotonic: now.monotonic - age), code: code)
        guard let other else { return judge(until: until, isWish: isWish) }
        if heard.count >= Self.tellers { heard = heard.filter { $0.value.until > now.monotonic } }
        let known = heard[other]
        if known == nil ? heard.count < Self.tellers : isWish || hasAsked(at: now.monotonic) {
            heard[other] = Hearsay(until: max(until, known?.until ?? .distantPast), isWish: isWish)
        }
        return close()
    }
    /// Whether its own failures are of late: others' count for so long, and then it asks once more itself.
    private func hasAsked(at now: Instant) -> Bool { judged.map { $0.until > now - rules.pauseCap } ?? false }
    /// Workers whose blocks are kept apart. Those of more are not heard.
    private static let tellers = 256

    private mutating func close() -> Change? {
        let isNew = phase == .open
        let told = heard.values.lazy.map(\.until).max()
        phase = .blocked(until: max(judged?.until ?? .distantPast, told ?? .distantPast))
        return isNew ? .blocked : nil
    }

    /// Another worker is asking it by one flight: this one waits for what comes of that, if it has asked once itself.
    package mutating func wait(for other: String, until: Instant, at now: Instant) {
        guard case .blocked = phase, hasAsked(at: now), let known = heard[other] else { return }
        heard[other]?.until = max(until, known.until)
        _ = close()
    }

    /// The other worker does not say so any more: the two may have heard of a person's word in another order.
    package mutating func retract(_ other: String, at now: Instant) {
        guard case .blocked = phase, heard.removeValue(forKey: other) != nil else { return }
        if judged == nil, heard.isEmpty { phase = .blocked(until: now) } else { _ = close() }
    }

    /// It answered another worker, by whose word it was left alone.
    package mutating func hear(openedBy other: String, at now: Instant) -> Change? {
        guard case .blocked = phase, heard.removeValue(forKey: other) != nil else { return nil }
        // Who closed it at the same time and for the same reason asks it no second time.
        heard = heard.filter { $0.value.until > now + ($0.value.isWish ? .zero : Self.together) }
        judged = judged.flatMap { $0.wish > now ? Judgement(until: $0.wish, wish: $0.wish) : nil }
        guard judged == nil, heard.isEmpty else {
            _ = close()
            return nil
        }
        open(at: now)
        return .opened
    }
    /// Blocks that end so soon after each other come from one failure.
    private static let together = Duration.seconds(15)

    /// Forgets its failures. Its limit is the first one at most.
    package mutating func open(at now: Instant) {
        (phase, judged, heard, pausedUntil) = (.open, nil, [:], .distantPast)
        (recent, trouble, openSince) = (RecentAnswers(), nil, now)
        (limit, clean, slowed) = (min(limit, start), 0, nil)
    }

    /// What the worker tells of it.
    package func row(of host: OriginHost, by teller: String, at now: Moment) -> OriginRow {
        var row = OriginRow(host: host.description, by: teller, at: now.wall)
        let trouble: Trouble?
        switch phase {
        case .open: (row.state, trouble) = (slowed == nil ? .open : .slowed, slowed?.trouble)
        case .blocked:
            (row.state, trouble) = (.blocked, self.trouble)
            // To the second, and though it is over: what is told of again must be the same.
            row.until = judged.map {
                let until = max(.epoch, now.wall + ($0.until - now.monotonic))
                return WallTime(milliseconds: until.milliseconds / 1_000 * 1_000)
            }
            row.isWish = judged.map { $0.wish >= $0.until } ?? false
        case .probing: (row.state, trouble) = (.probing, self.trouble)
        }
        (row.code, row.since) = (trouble?.code, trouble?.since.wall)
        (row.limit, row.inFlight) = (share, inUse.all)
        return row
    }

    /// It answered well, and has not failed since.
    package var isProven: Bool { answeredAt != nil && trouble == nil }

    private mutating func note(_ code: String, _ now: Moment) {
        trouble = Trouble(since: trouble?.since ?? now, code: code)
    }

    /// It was open for long, or has answered much since.
    private mutating func forgive(_ now: Instant) {
        if phase == .open, now - openSince >= rules.quiet || recent.good >= RecentAnswers.window {
            rounds = PauseRounds()
        }
    }

    private mutating func grow() {
        guard limit < ceiling else { return }
        clean += 1
        guard clean >= limit else { return }
        (limit, clean) = (limit + 1, 0)
        if let from = slowed?.from, limit >= from { slowed = nil }
    }

    private mutating func halve(_ number: Int, _ code: String, _ now: Moment) {
        note(code, now)
        guard number >= halvedAt, let trouble else { return }
        slowed = slowed ?? (limit, trouble)
        (limit, clean, halvedAt) = (max(1, limit / 2), 0, count)
    }

    package func checkInvariants() {
        invariant(inUse.all == begun.count && (0...inUse.all).contains(inUse.slow), "fetches of a host are counted wrong")
        invariant((1...max(1, ceiling)).contains(limit), "a host's limit is none, or above its ceiling")
    }

    /// Nothing is known of it that a new one would not have.
    package var isForgettable: Bool {
        phase == .open && inUse.all == 0 && recent.failuresInRow == 0 && limit >= start && rounds == PauseRounds()
    }
}
