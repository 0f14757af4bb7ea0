package import Canonical
package import Clocks
package import Ledger
package import Records

/// Adaptive limit and circuit breaker of one host or one group of hosts.
///
/// The limit grows by one after as many good responses as its value. A response that signals overload halves it. A host
/// that fails is blocked, for longer after each new failure, until one flight has seen it respond.
package struct OriginState: Sendable {
    /// This worker's own block of the host.
    package struct Judgement: Sendable, Equatable {
        package var until: Instant
        /// End of the pause that the host itself requested. A response to another worker does not end it.
        var requested: Instant
    }

    /// A block published by another worker.
    private struct PeerReport: Sendable {
        var until: Instant
        let isRequested: Bool
    }

    package private(set) var phase = Phase.open
    package private(set) var limit: Int
    /// Trouble since the last good response.
    package private(set) var trouble: Trouble?
    /// Limit before it was halved, until the limit has grown back to it.
    package private(set) var slowed: (from: Int, trouble: Trouble)?
    /// This worker's own block, which it publishes. Workers publish only blocks that they decided themselves: if each
    /// also republished the blocks that it read, no block would ever end.
    package private(set) var judged: Judgement?
    /// Blocks that other workers published, by worker.
    private var heard: [String: PeerReport] = [:]
    /// Fetches in progress, and how many of them are for slow flights.
    package private(set) var inUse = (all: 0, slow: 0)
    package let ceiling: Int
    /// This worker's part of the cluster's concurrent fetches. See `HostSlots`.
    package private(set) var slots: Int
    /// When a flight last started.
    package private(set) var begunAt = Instant.distantPast
    /// Whether the last flight that started was slow.
    private var isFastNext = false
    /// The cluster's limit of concurrent fetches.
    private let slotCount: Int
    private let rules: OriginRules
    /// Time between two fetches. nil: no rate limit.
    private let interval: Duration?
    private let timeForByte: Duration?

    /// Fetches in progress, each with the number of fetches that started before it.
    private var begun: [FlightID: Int] = [:]
    package private(set) var count = 0
    /// Number of fetches that had started when the limit was last halved. Their responses do not halve it again.
    private var halvedAt = 0
    private var clean = 0
    private var recent = RecentResponses()
    /// Failed probes in a row by jobs whose URLs are known to fail. Up to a window of them follow each other at once.
    private var knownProbes = 0
    private var rounds = PauseRounds()
    private var openSince = Instant.distantPast
    /// Time of the last good response.
    private var respondedAt: Instant?
    /// Earliest start of the next fetch.
    private var next = Instant.distantPast
    /// End of a requested pause that accompanied a failure. It is short, so it is not published.
    private var pausedUntil = Instant.distantPast

    private static let minute = Duration.minutes(1)
    /// A fetch may start this much too early, because ticks do not match the rate.
    private static let slack = Duration.milliseconds(50)

    /// `most`: fetches of this worker's permits that any one host may have.
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

    /// Sets the number of the host's slots that this worker owns.
    package mutating func own(slots: Int) { self.slots = slots }

    /// Maximum slow flights: a third of this worker's share, at least one. A probe may exceed it, up to a third of the
    /// slots.
    package var slowLimit: Int { max(1, share / 3) }

    /// Whether an aged slow flight lets fast ones go first, once. It does if a slow flight last had the only fetch that
    /// this worker may have. Otherwise fast flights would never get a turn while an old slow backlog waits.
    package mutating func yieldsOnce() -> Bool {
        defer { isFastNext = false }
        return isFastNext && share == 1
    }

    /// Concurrent fetches of the host that this worker may have.
    package var share: Int { min(limit, slots) }

    package func mayBegin(isSlow: Bool, at now: Instant) -> Bool {
        if inUse.all >= slots || (isSlow && inUse.slow >= max(1, slots / 3)) { return false }
        return switch phase {
        case .open: inUse.all < share && !(isSlow && inUse.slow >= slowLimit) && !isPaced(at: now)
        case .blocked(let until): now >= until
        case .probing: false
        }
    }

    /// The last reason that held a flight back, and when.
    package private(set) var hold: (at: Instant, by: HostHold)?

    package mutating func note(_ by: HostHold, at now: Instant) { hold = (now, by) }

    /// The reason that holds flights back now.
    package func holding(isSlow: Bool, at now: Instant) -> HostHold? {
        if mayBegin(isSlow: isSlow, at: now) { return nil }
        return phase != .open || now < pausedUntil ? .breaker : isPaced(at: now) ? .rate : .limit
    }

    /// Whether the next fetch only waits for time: for the rate, or for a short pause that the host requested.
    package func isPaced(at now: Instant) -> Bool { now < pausedUntil || next > now + Self.slack }

    /// Whether jobs should be parked, not wait in memory.
    package func isClosed(at now: Instant) -> Bool {
        switch phase {
        case .open: false
        case .blocked(let until): now < until
        case .probing: true
        }
    }

    package var blockedUntil: Instant { if case .blocked(let until) = phase { until } else { .distantPast } }

    /// How long a flight waits that may not start now: as long as the trouble has lasted, or until the block ends,
    /// whichever is longer.
    package func wait(at now: Moment) -> Duration {
        let age = trouble.map { now.monotonic - $0.since.monotonic } ?? .zero
        guard case .blocked(let until) = phase else { return age }
        return max(age, until - now.monotonic)
    }

    package mutating func begin(_ flight: FlightID, isSlow: Bool, at now: Instant) {
        begun[flight] = count
        count += 1
        inUse = (inUse.all + 1, inUse.slow + (isSlow ? 1 : 0))
        (begunAt, isFastNext) = (now, isSlow)
        if let interval { next = max(next, now) + interval * part }
        if case .blocked = phase { phase = .probing(flight) }
    }

    /// Ends the flight's fetch. A probe without a result leaves the host blocked and due for another probe.
    package mutating func end(_ flight: FlightID, isSlow: Bool) {
        inUse = (inUse.all - 1, inUse.slow - (isSlow ? 1 : 0))
        begun[flight] = nil
        if phase == .probing(flight) { phase = .blocked(until: max(Instant(nanoseconds: 0), pausedUntil)) }
    }

    /// Factor by which this worker's fetches are slower than the rate, because a rate is the cluster's.
    private var part: Double { Double(slotCount) / Double(min(max(1, slots), slotCount)) }

    package mutating func change(isSlow: Bool) { inUse.slow += isSlow ? 1 : -1 }

    /// Applies the response to a fetch that is in progress.
    ///
    /// - Parameters:
    ///   - failingSince: when the same retried job first got no response from its host; nil: this is its first attempt.
    ///     If the host has responded well to others since, the fault may be the URL's. A few such URLs, retried one
    ///     after another, would otherwise block a host for all its jobs.
    ///   - jitter: 0..<1.
    package mutating func note(
        _ response: OriginResponse, of flight: FlightID, because code: String = "", failingSince: WallTime? = nil,
        jitter: Double = 0, at now: Moment
    ) -> Change? {
        guard let number = begun[flight] else { return nil }
        let isProbe = phase == .probing(flight)
        // Fetches that were in progress when the host was blocked add nothing new, except a pause that the host
        // requests.
        let counts = phase == .open || isProbe
        let failed = Try(
            number: number, isProbe: isProbe, isFirst: failingSince == nil,
            isKnown: failingSince ?? .distantFuture < lastGood(now)?.wall ?? .distantPast)
        switch response {
        case .unasked: return nil
        case .responded(let bytes):
            respondedAt = now.monotonic
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
            return counts ? fail(failed, code, now) : judge(until: pausedUntil, isRequested: true)
        case .refused(nil, let mayBeOfURL) where rules.backoff == .zero || mayBeOfURL:
            return counts ? fail(failed, code, requested: rules.backoff == .zero ? nil : jitter, now) : nil
        case .refused(let after, _):
            guard counts || after != nil else { return nil }
            halve(number, code, now)
            forgive(now.monotonic)
            return judge(until: now.monotonic + (after ?? rounds.backoff(rules, jitter: jitter)), isRequested: true)
        }
    }

    /// One failed fetch.
    private struct Try {
        /// Number of fetches that started before it.
        let number: Int
        let isProbe: Bool
        /// Whether this was the first attempt of its job.
        let isFirst: Bool
        /// Whether the URL had failed before the host last responded well.
        let isKnown: Bool
    }

    /// Time of the last good response, by both clocks.
    private func lastGood(_ now: Moment) -> Moment? {
        respondedAt.map { Moment(wall: now.wall - (now.monotonic - $0), monotonic: $0) }
    }

    /// - Parameter wish: jitter of the pause that the host requested; nil: it requested none.
    private mutating func fail(_ failed: Try, _ code: String, requested: Double? = nil, _ now: Moment) -> Change? {
        recent.add(isFailure: true, isKnown: failed.isKnown)
        let most = rules.failures > 0 ? rules.failures : requested != nil ? OriginRules.usualFailures : nil
        if failed.isKnown { return failKnown(failed, code, mayClose: most != nil, now) }
        knownProbes = 0
        halve(failed.number, code, now)
        guard failed.isProbe || most.map(recent.isFailing) == true else { return nil }
        forgive(now.monotonic)
        let wait =
            requested.map { rounds.backoff(rules, jitter: $0, isFirst: failed.isFirst) }
            ?? rounds.pause(rules, isFirst: failed.isFirst)
        return judge(until: max(now.monotonic + wait, pausedUntil), isRequested: requested != nil)
    }

    /// Handles a failure that may be the URL's fault. It blocks the host only if most responses are failures and none
    /// was good for a minute, and for no longer than the last time. Within that minute it halves the limit.
    private mutating func failKnown(_ failed: Try, _ code: String, mayClose: Bool, _ now: Moment) -> Change? {
        if failed.isProbe, knownProbes < RecentResponses.window {
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
        // Other workers ignore this block if they have had a good response since.
        note(code, good)
        return judge(until: max(now.monotonic + rounds.sameAgain(rules), pausedUntil), isRequested: false)
    }

    private mutating func judge(until: Instant, isRequested: Bool) -> Change? {
        let requested = isRequested ? until : .distantPast
        judged = Judgement(
            until: max(until, judged?.until ?? .distantPast), requested: max(requested, judged?.requested ?? .distantPast))
        return close()
    }

    /// Blocks the host at the request of an operator or of another worker.
    ///
    /// One worker may fail to reach a host that responds to all others. Its failures do not count for a worker that had
    /// a good response since. A worker without one probes the host once itself when the first block ends.
    ///
    /// - Parameters:
    ///   - other: the worker that decided the block; nil: this worker did, before its restart.
    ///   - isRequested: whether the host requested the block, or an operator did.
    ///   - age: how long the host has been in trouble.
    package mutating func block(
        until: Instant, because code: String, by other: String?, isRequested: Bool = true, age: Duration = .zero,
        at now: Moment
    ) -> Change? {
        if !isRequested, other != nil {
            if let respondedAt, respondedAt > now.monotonic - age { return nil }
            // This worker learns more from its own probe in progress, and the other worker will publish the block
            // again.
            if case .probing = phase { return nil }
        }
        trouble = Trouble(
            since: trouble?.since ?? Moment(wall: now.wall - age, monotonic: now.monotonic - age), code: code)
        guard let other else { return judge(until: until, isRequested: isRequested) }
        if heard.count >= Self.tellers { heard = heard.filter { $0.value.until > now.monotonic } }
        let known = heard[other]
        if known == nil ? heard.count < Self.tellers : isRequested || hasAsked(at: now.monotonic) {
            heard[other] = PeerReport(until: max(until, known?.until ?? .distantPast), isRequested: isRequested)
        }
        return close()
    }
    /// Whether this worker's own failures are recent. Peer reports extend its block only for that long; then this
    /// worker probes again itself.
    private func hasAsked(at now: Instant) -> Bool { judged.map { $0.until > now - rules.pauseCap } ?? false }
    /// Workers whose blocks are kept separately. Blocks of further workers are ignored.
    private static let tellers = 256

    private mutating func close() -> Change? {
        let isNew = phase == .open
        let told = heard.values.lazy.map(\.until).max()
        phase = .blocked(until: max(judged?.until ?? .distantPast, told ?? .distantPast))
        return isNew ? .blocked : nil
    }

    /// Waits for another worker's probe in progress, if this worker has probed once itself.
    package mutating func wait(for other: String, until: Instant, at now: Instant) {
        guard case .blocked = phase, hasAsked(at: now), let known = heard[other] else { return }
        heard[other]?.until = max(until, known.until)
        _ = close()
    }

    /// Removes a block that the other worker publishes no more. The two may have read an operator's command in a
    /// different order.
    package mutating func retract(_ other: String, at now: Instant) {
        guard case .blocked = phase, heard.removeValue(forKey: other) != nil else { return }
        if judged == nil, heard.isEmpty { phase = .blocked(until: now) } else { _ = close() }
    }

    /// Opens the host after it responded to the worker whose block closed it.
    package mutating func hear(openedBy other: String, at now: Instant) -> Change? {
        guard case .blocked = phase, heard.removeValue(forKey: other) != nil else { return nil }
        // A worker that blocked the host at the same time for the same reason does not probe it again.
        heard = heard.filter { $0.value.until > now + ($0.value.isRequested ? .zero : Self.together) }
        judged = judged.flatMap { $0.requested > now ? Judgement(until: $0.requested, requested: $0.requested) : nil }
        guard judged == nil, heard.isEmpty else {
            _ = close()
            return nil
        }
        open(at: now)
        return .opened
    }
    /// Blocks that end within this time of each other come from one failure.
    private static let together = Duration.seconds(15)

    /// Forgets the host's failures. Its limit restarts at the initial one at most.
    package mutating func open(at now: Instant) {
        (phase, judged, heard, pausedUntil) = (.open, nil, [:], .distantPast)
        (recent, trouble, openSince) = (RecentResponses(), nil, now)
        (limit, clean, slowed) = (min(limit, start), 0, nil)
    }

    /// Whether the host has responded well, and has not failed since.
    package var isProven: Bool { respondedAt != nil && trouble == nil }

    private mutating func note(_ code: String, _ now: Moment) {
        trouble = Trouble(since: trouble?.since ?? now, code: code)
    }

    /// Resets the pauses if the host was open for long, or has responded well often enough.
    private mutating func forgive(_ now: Instant) {
        if phase == .open, now - openSince >= rules.quiet || recent.good >= RecentResponses.window {
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
        invariant((1...max(1, ceiling)).contains(limit), "a host's limit is below one, or above its ceiling")
    }

    /// Whether the state holds nothing that a new one would not.
    package var isForgettable: Bool {
        phase == .open && inUse.all == 0 && recent.failuresInRow == 0 && limit >= start && rounds == PauseRounds()
    }
}
