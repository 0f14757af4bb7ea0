internal import Clocks
internal import ImageModel
internal import Ports
internal import Records

/// The check for each cause. It is nil if the cause does not apply.
struct Findings {
    let report: WatchReport
    let state: WatchState
    let now: WallTime
    private let jobsByHost: [String: Double]

    init(report: WatchReport, state: WatchState, now: WallTime) {
        (self.report, self.state, self.now) = (report, state, now)
        jobsByHost = report.waits.reduce(into: [:]) { $0[$1.host, default: 0] += $1.jobs }
    }

    func jobs(for host: String) -> Double { jobsByHost[host] ?? 0 }

    /// Time without a reply after which the log counts as silent. A lost request is first repeated.
    static let answerTime: Duration = .seconds(3)
    /// Longer than any poll takes.
    static let staleTime: Duration = .seconds(15)
    /// Time for which no owner is normal: in a rebalance nobody owns anything, and it is over within seconds.
    static let rebalanceTime: Duration = .seconds(5)
    static let workerTime: Duration = .seconds(5)
    /// A worker joins its group and gets partitions within this time after its start.
    static let joinTime: Duration = .seconds(10)
    /// Difference from which a worker warns of its clock (`LogClock.tolerance`).
    static let skew: Duration = .seconds(10)
    static let sameSkew: Duration = .seconds(2)
    static let haltTime: Duration = .seconds(30)
    /// Longer than a healthy store takes for the files of one source, or to look up a batch of them.
    static let hungTime: Duration = .seconds(15)
    static let deadLetterTime: Duration = .hours(1)
    static let crashStarts = 3
    /// Renderers are idle while less of them than this are busy on average.
    static let idleRenders = 0.5
    static let diskBytes = 64 << 20
    /// Share of the pending jobs from which a host has most of them.
    static let dominance = 0.5

    var unpublished: Diagnosis? {
        guard let (since, place) = state.unpublished else { return nil }
        return Diagnosis(
            .idle, "Nothing was published yet: there is no log at \(Words.cut(place)).", since: since,
            action:
                "Publish a job (mezzotint publish) or start mezzotint-worker; if you did, check that data names the same folder."
        )
    }

    var silentLog: Diagnosis? {
        let advice = state.silence?.code.flatMap { Advice.action($0) }
        guard let respondedAt = report.respondedAt else {
            guard let silence = state.silence else { return nil }
            return Diagnosis(
                .logUnreachable, "The log has not responded yet: \(Words.cut(silence.reason))", since: silence.since,
                action: advice)
        }
        let silence = state.silence.flatMap { now - $0.since >= Self.answerTime ? $0 : nil }
        guard silence != nil || now - respondedAt > Self.staleTime else { return nil }
        let reason = silence.map { ": \(Words.cut($0.reason))" } ?? "."
        return Diagnosis(
            .logUnreachable,
            "The log has not responded since \(clock(respondedAt)) (\(Words.span(now - respondedAt)))\(reason) What is shown is as old as that.",
            since: respondedAt, action: advice)
    }

    /// Owners, topic-partitions and workers were not all seen once, within the first half minute. Until then nothing is
    /// known to be fine.
    var starting: Diagnosis? {
        if report.respondedAt == nil, state.silence == nil {
            return Diagnosis(.starting, "Nothing was seen yet.", since: nil)
        }
        guard let first = state.firstRespondedAt, now - first < Self.haltTime else { return nil }
        let unseen = state.places.count { $0.start == nil && $0.failure == nil }
        let unasked = report.workers.count { $0.figures == nil && $0.silence == nil }
        let isJoining =
            state.isShared && now - first < Self.rebalanceTime
            && state.partitions.allSatisfy { $0.owner == nil && $0.unownedSince == state.ownersKnownSince }
        guard !state.areOwnersKnown || unseen > 0 || unasked > 0 || isJoining else { return nil }
        return Diagnosis(
            .starting, "Lagwatch is starting: owners, topics and workers were not all read yet.", since: first)
    }

    private var loopingWorkers: [WatchReport.WorkerReport] {
        report.workers.filter { $0.restarts.count >= Self.crashStarts }
    }

    /// If one job makes a worker crash again and again, the job is the cause.
    var looping: Diagnosis? { loopingWorkers.isEmpty ? nil : suspected(crashes: 2) ?? killed }

    var crashLoop: Diagnosis? {
        let looping = loopingWorkers
        guard let worst = looping.max(by: { $0.restarts.count < $1.restarts.count }), let first = worst.restarts.first,
            let last = worst.restarts.last
        else { return nil }
        let others = looping.count > 1 ? ", and \(looping.count - 1) more like it" : ""
        let words = worst.figures?.lastLine.map { " The log of the process before ended with: \($0)" } ?? ""
        return Diagnosis(
            .crashLoop,
            "The worker at \(Words.cut(worst.address, 80)) was started \(worst.restarts.count) times within \(Words.span(max(.seconds(1), now - first)))\(others), the last time at \(clock(last)): it ends soon after each start.\(words)",
            since: first)
    }

    /// Without a group, ownership passes from one process to the next at once.
    private func unowned(for grace: Duration) -> [PartitionWatch] {
        guard state.areOwnersKnown else { return [] }
        let grace = state.isShared ? grace : .zero
        return state.partitions.filter { $0.unownedSince.map { now - $0 >= grace } ?? false }
    }

    /// State in which no partition has an owner: its start, the workers that respond, and those of them that are still
    /// joining. `isBrief`: it is only the moment between two processes of a worker.
    private var ownerless: (since: WallTime?, responding: Int, joining: Int, isBrief: Bool)? {
        let unowned = unowned(for: Self.rebalanceTime)
        guard !unowned.isEmpty, unowned.count == state.partitionCount else { return nil }
        let since = unowned.compactMap(\.unownedSince).max()
        // After a crash the group waits for the dead member's session to end. A worker may also fail to join.
        let least = (since ?? now) + Self.rebalanceTime
        let workers = state.workers.values.filter { $0.silence == nil && $0.respondedAt ?? .distantPast >= least }
        // Without this the cause changes for some seconds at each start.
        let joining = workers.count { $0.figures?.started.map { (now - $0).magnitude < Self.joinTime } ?? false }
        return (since, workers.count, joining, since != state.ownersKnownSince && now < least)
    }

    /// Whether a worker that was restarted after a crash within the last ten minutes crashed again.
    private var isDyingAgain: Bool {
        let ends = state.partitions.compactMap { $0.progress?.isClean }
        return !ends.isEmpty && !ends.contains(true) && report.workers.contains { !$0.restarts.isEmpty }
    }

    var noWorker: Diagnosis? {
        guard let (since, responding, joining, isBrief) = ownerless, responding == joining,
            !report.isEmpty || isDyingAgain && !isBrief
        else { return nil }
        if joining > 0 {
            return Diagnosis(
                .noWorker,
                "No worker has owned a partition\(sinceText(since)). \(Words.counted(joining, "worker")) started a few seconds ago.",
                since: since, action: "Wait a few seconds: a worker that starts joins its group first.")
        }
        return Diagnosis(.noWorker, "No worker has been running\(sinceText(since)).", since: since)
    }

    /// A run that ended as it should leaves nothing behind. Jobs that failed or were lost are still reported.
    var idle: Diagnosis? {
        guard let (since, responding, joining, isBrief) = ownerless, responding == joining, report.isEmpty,
            isBrief || !isDyingAgain
        else { return nil }
        let who = joining > 0 ? "A worker is starting" : "No worker is running"
        return unreadPartitions ?? jobsLost ?? mostExpire ?? mostFail ?? someFail ?? deadLetters
            ?? (isBrief ? fine : Diagnosis(.idle, "Idle. \(who); nothing is pending.", since: since))
    }

    var noOwner: Diagnosis? {
        if let (since, responding, joining, _) = ownerless, responding > joining {
            return Diagnosis(
                .noOwner,
                "No partition has had an owner\(sinceText(since)), though \(Words.counted(responding, "worker")) respond\(responding == 1 ? "s" : "").",
                since: since)
        }
        let unowned = unowned(for: Self.rebalanceTime * 2)
        guard !unowned.isEmpty, unowned.count < state.partitionCount else { return nil }
        let since = unowned.compactMap(\.unownedSince).min()
        return Diagnosis(
            .noOwner, "\(unowned.count) of \(state.partitionCount) partitions have had no owner\(sinceText(since)).",
            since: since)
    }

    var unreadable: Diagnosis? {
        let partitions = report.partitions.filter { $0.state == .unreadable }
        let since = state.places.compactMap { $0.failure?.since }.min()
        guard let first = partitions.first, let since, now - since >= Self.answerTime else { return nil }
        return Diagnosis(
            .partitionsUnreadable,
            "\(partitions.count) of \(state.partitionCount) partitions cannot be read since \(clock(since)): \(Words.cut(first.message ?? ""))",
            since: since)
    }

    var silentWorker: Diagnosis? {
        let silent = report.workers.filter { $0.silentSince.map { now - $0 >= Self.workerTime } ?? false }
        guard let first = silent.first, let since = first.silentSince else { return nil }
        let others = silent.count > 1 ? " and \(silent.count - 1) more" : ""
        return Diagnosis(
            .workerSilent,
            "\(silent.count) of \(Words.count(report.workers.count)) workers (\(Words.cut(first.address, 80))\(others)) \(silent.count > 1 ? "have" : "has") not responded since \(clock(since))\(Words.detail(first.silence?.reason))",
            since: since)
    }

    /// The clock that differs most from the brokers'.
    var skewedClock: Diagnosis? {
        func skew(_ worker: WatchReport.WorkerReport) -> Duration { worker.figures?.clockSkew ?? .zero }
        let skewed = report.workers.filter { $0.silence == nil && skew($0).magnitude >= Self.skew }
        guard let worst = skewed.max(by: { skew($0).magnitude < skew($1).magnitude }) else { return nil }
        let (size, isAhead) = (skew(worst).magnitude, skew(worst) > .zero)
        // Clocks of several machines are seldom wrong by the same time.
        let known = report.workers.filter { $0.silence == nil && $0.figures?.clockSkew != nil }
        if known.count > 1, known.allSatisfy({ (skew($0) - skew(worst)).magnitude < Self.sameSkew }) {
            return Diagnosis(
                .clockSkewed,
                "The brokers' clock is \(Words.span(size)) \(isAhead ? "behind" : "ahead of") the clocks of all \(known.count) workers: the ages of jobs are wrong by as much.",
                since: nil, action: "Set the clock of the brokers' machines (NTP: chronyc tracking, timedatectl).")
        }
        let others =
            skewed.count > 1
            ? "; \(Words.counted(skewed.count - 1, "other clock")) differ\(skewed.count == 2 ? "s" : ""), too" : ""
        return Diagnosis(
            .clockSkewed,
            "The clock of the worker at \(Words.cut(worst.address, 80)) is \(Words.span(size)) \(isAhead ? "ahead of" : "behind") the brokers': jobs and sources expire too \(isAhead ? "early" : "late")\(others).",
            since: nil)
    }

    /// An owner without progress in any of its jobs, for any reason, if nothing else explains it.
    var standstill: Diagnosis? {
        var owners: [String: (still: Int, moving: Int, since: WallTime)] = [:]
        for number in 0..<state.partitionCount {
            guard let owner = state.partitions[number].owner else { continue }
            for lane in report.lanes where !lane.isPaused {
                let place = state.place(.jobs(lane.lane), number)
                guard place.unfinished ?? 0 > 0, let movedAt = place.movedAt else { continue }
                var entry = owners[owner, default: (0, 0, now)]
                let isStill = now - max(movedAt, place.oldest ?? movedAt) > Self.staleTime
                if isStill { entry.still += 1 } else { entry.moving += 1 }
                if isStill { entry.since = min(entry.since, movedAt) }
                owners[owner] = entry
            }
        }
        let still = owners.filter {
            $0.value.moving == 0 && ($0.value.still > 1 || now - $0.value.since > WatchState.pinnedTime)
        }
        guard let first = still.min(by: { $0.key < $1.key }) else { return nil }
        return Diagnosis(
            .workerSilent,
            "No job has ended at \(Words.cut(first.key, 80))\(still.count > 1 ? " and \(still.count - 1) more" : "") since \(clock(first.value.since)), though it owns partitions with jobs.",
            since: first.value.since)
    }

    var restoring: Diagnosis? {
        let workers = report.workers.filter { $0.figures?.restoring ?? 0 > 0 }
        let reported = workers.reduce(0) { $0 + ($1.figures?.restoring ?? 0) }
        let seen = report.partitions.count { $0.state == .restoring }
        let count = state.restoringByWorkers ?? max(reported, seen)
        guard count > 0 else { return nil }
        // A worker of an older version does not export them.
        let rows = workers.map { $0.figures?.rowsLeft }
        let still = workers.compactMap(\.restoredAt).min()
        var sentence = "\(count) of \(state.partitionCount) partitions are being restored"
        if !rows.isEmpty, !rows.contains(nil) {
            sentence += ", \(Words.count(rows.reduce(0) { $0 + ($1 ?? 0) })) rows to go at most"
        }
        if let still, now - still > Self.workerTime {
            sentence += ": none has come in since \(clock(still)), so it stands still"
        }
        return Diagnosis(.restoring, sentence + ".", since: still)
    }
}
