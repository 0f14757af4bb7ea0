internal import ImageModel
internal import Ports
internal import Records

/// What each cause is looked for by. A cause that is not so is nil.
struct Findings {
    let report: WatchReport
    let state: WatchState
    let now: Int64
    private let jobsByHost: [String: Double]

    init(report: WatchReport, state: WatchState, now: Int64) {
        (self.report, self.state, self.now) = (report, state, now)
        jobsByHost = report.waits.reduce(into: [:]) { $0[$1.host, default: 0] += $1.jobs }
    }

    func jobs(for host: String) -> Double { jobsByHost[host] ?? 0 }

    /// A question that was lost is asked again first.
    static let answerMilliseconds: Int64 = 3_000
    /// Longer than any look takes.
    static let staleMilliseconds: Int64 = 15_000
    /// In a rebalance nobody owns anything, and it is over within seconds.
    static let rebalanceMilliseconds: Int64 = 5_000
    static let workerMilliseconds: Int64 = 5_000
    /// A worker joins its group and takes up partitions within this time after its start.
    static let joinSeconds = 10.0
    /// As a worker warns of its clock (`LogClock.tolerance`).
    static let skewSeconds = 10.0
    static let sameSkewSeconds = 2.0
    static let haltMilliseconds: Int64 = 30_000
    /// Longer than a healthy store takes for the files of one source, or to look up a batch of them.
    static let hungSeconds = 15.0
    static let letterMilliseconds: Int64 = 3_600_000
    static let crashStarts = 3
    /// Renderers are idle while less of them than this are busy on average.
    static let idleRenders = 0.5
    static let diskBytes = 64 << 20
    /// A host has most of what waits when it has this share.
    static let dominance = 0.5

    var log: Diagnosis? {
        if let (since, place) = state.unpublished {
            return Diagnosis(
                .idle, "Nothing was published yet: there is no log at \(Words.cut(place)).", since: since,
                action:
                    "Publish a job (mezzotint publish) or start mezzotint-worker; if you did, check that data names the same folder."
            )
        }
        let advice = state.silence?.code.flatMap { Advice.action($0) }
        guard let answeredAt = report.answeredAt else {
            guard let silence = state.silence else { return Diagnosis(.starting, "Nothing was seen yet.", since: nil) }
            return Diagnosis(
                .logUnreachable, "The log has not responded yet: \(Words.cut(silence.reason))", since: silence.since,
                action: advice)
        }
        let silence = state.silence.flatMap { now - $0.since >= Self.answerMilliseconds ? $0 : nil }
        guard silence != nil || now - answeredAt > Self.staleMilliseconds else { return nil }
        let reason = silence.map { ": \(Words.cut($0.reason))" } ?? "."
        return Diagnosis(
            .logUnreachable,
            "The log has not responded since \(clock(answeredAt)) (\(Words.span(now - answeredAt)))\(reason) What is shown is as old as that.",
            since: answeredAt, action: advice)
    }

    /// Until owners, every place and every worker were seen once, for half a minute at most: nothing is known to be well.
    var starting: Diagnosis? {
        guard let first = state.firstAnsweredAt, now - first < Self.haltMilliseconds else { return nil }
        let unseen = state.places.count { $0.start == nil && $0.failure == nil }
        let unasked = report.workers.count { $0.figures == nil && $0.silence == nil }
        let isJoining =
            state.isShared && now - first < Self.rebalanceMilliseconds
            && state.partitions.allSatisfy { $0.owner == nil && $0.unownedSince == state.ownersKnownSince }
        guard !state.areOwnersKnown || unseen > 0 || unasked > 0 || isJoining else { return nil }
        return Diagnosis(
            .starting, "Lagwatch is starting: owners, topics and workers were not all read yet.", since: first)
    }

    /// A worker that is started again and again; of one job that makes it crash the job is the cause.
    var crashLoop: Diagnosis? {
        let looping = report.workers.filter { $0.restarts.count >= Self.crashStarts }
        guard let worst = looping.max(by: { $0.restarts.count < $1.restarts.count }), let first = worst.restarts.first,
            let last = worst.restarts.last
        else { return nil }
        if let killer = suspected(deaths: 2) ?? killed { return killer }
        let others = looping.count > 1 ? ", and \(looping.count - 1) more like it" : ""
        let words = worst.figures?.lastLine.map { " The log of the process before ended with: \($0)" } ?? ""
        return Diagnosis(
            .crashLoop,
            "The worker at \(Words.cut(worst.address, 80)) was started \(worst.restarts.count) times within \(Words.span(max(1_000, now - first)))\(others), the last time at \(clock(last)): it ends soon after each start.\(words)",
            since: first)
    }

    /// Ownership without a group goes from one process to the next at once.
    private func unowned(for grace: Int64) -> [PartitionWatch] {
        guard state.areOwnersKnown else { return [] }
        let grace = state.isShared ? grace : 0
        return state.partitions.filter { $0.unownedSince.map { now - $0 >= grace } ?? false }
    }

    var noWorker: Diagnosis? {
        let unowned = unowned(for: Self.rebalanceMilliseconds)
        guard !unowned.isEmpty, unowned.count == state.partitionCount else { return nil }
        let since = unowned.compactMap(\.unownedSince).max()
        // After a crash the group waits for the dead member's session to end; a worker may also fail to join.
        let least = (since ?? now) + Self.rebalanceMilliseconds
        let workers = state.workers.values.filter { $0.silence == nil && $0.answeredAt ?? .min >= least }
        // Without this the cause changes for some seconds at each start.
        let joining = workers.count { abs(Double(now) / 1_000 - ($0.figures?.started ?? 0)) < Self.joinSeconds }
        let responding = workers.count
        if responding > joining {
            return Diagnosis(
                .noOwner,
                "No partition has had an owner\(sinceText(since)), though \(Words.counted(responding, "worker")) respond\(responding == 1 ? "s" : "").",
                since: since)
        }
        // A run that ended as it should leaves nothing behind, but jobs that failed or were lost are no reason to be calm.
        if report.isEmpty {
            let who = joining > 0 ? "A worker is starting" : "No worker is running"
            return unreadPartitions ?? jobsLost ?? mostFail ?? someFail ?? deadLetters
                ?? Diagnosis(.idle, "Idle. \(who); nothing is pending.", since: since)
        }
        if joining > 0 {
            return Diagnosis(
                .noWorker,
                "No worker has owned a partition\(sinceText(since)). \(Words.counted(joining, "worker")) started a few seconds ago.",
                since: since, action: "Wait a few seconds: a worker that starts joins its group first.")
        }
        return Diagnosis(.noWorker, "No worker has been running\(sinceText(since)).", since: since)
    }

    var noOwner: Diagnosis? {
        let unowned = unowned(for: 2 * Self.rebalanceMilliseconds)
        guard !unowned.isEmpty, unowned.count < state.partitionCount else { return nil }
        let since = unowned.compactMap(\.unownedSince).min()
        return Diagnosis(
            .noOwner, "\(unowned.count) of \(state.partitionCount) partitions have had no owner\(sinceText(since)).",
            since: since)
    }

    var unreadable: Diagnosis? {
        let partitions = report.partitions.filter { $0.state == .unreadable }
        let since = state.places.compactMap { $0.failure?.since }.min()
        guard let first = partitions.first, let since, now - since >= Self.answerMilliseconds else { return nil }
        return Diagnosis(
            .partitionsUnreadable,
            "\(partitions.count) of \(state.partitionCount) partitions cannot be read since \(clock(since)): \(Words.cut(first.message ?? ""))",
            since: since)
    }

    var silentWorker: Diagnosis? {
        let silent = report.workers.filter { $0.silentSince.map { now - $0 >= Self.workerMilliseconds } ?? false }
        guard let first = silent.first, let since = first.silentSince else { return nil }
        let others = silent.count > 1 ? " and \(silent.count - 1) more" : ""
        return Diagnosis(
            .workerSilent,
            "\(silent.count) of \(Words.count(report.workers.count)) workers (\(Words.cut(first.address, 80))\(others)) \(silent.count > 1 ? "have" : "has") not responded since \(clock(since))\(Words.detail(first.silence?.reason))",
            since: since)
    }

    /// The clock that differs most from the brokers'.
    var skewedClock: Diagnosis? {
        func skew(_ worker: WatchReport.WorkerReport) -> Double { worker.figures?.clockSkew ?? 0 }
        let skewed = report.workers.filter { $0.silence == nil && abs(skew($0)) >= Self.skewSeconds }
        guard let worst = skewed.max(by: { abs(skew($0)) < abs(skew($1)) }) else { return nil }
        let (seconds, isAhead) = (abs(skew(worst)), skew(worst) > 0)
        // Clocks of several machines are seldom wrong by the same time.
        let known = report.workers.filter { $0.silence == nil && $0.figures?.clockSkew != nil }
        if known.count > 1, known.allSatisfy({ abs(skew($0) - skew(worst)) < Self.sameSkewSeconds }) {
            return Diagnosis(
                .clockSkewed,
                "The brokers' clock is \(Words.span(Int64(seconds * 1_000))) \(isAhead ? "behind" : "ahead of") the clocks of all \(known.count) workers: the ages of jobs are wrong by as much.",
                since: nil, action: "Set the clock of the brokers' machines (NTP: chronyc tracking, timedatectl).")
        }
        let others =
            skewed.count > 1
            ? "; \(Words.counted(skewed.count - 1, "other clock")) differ\(skewed.count == 2 ? "s" : ""), too" : ""
        return Diagnosis(
            .clockSkewed,
            "The clock of the worker at \(Words.cut(worst.address, 80)) is \(Words.span(Int64(seconds * 1_000))) \(isAhead ? "ahead of" : "behind") the brokers': jobs and sources expire too \(isAhead ? "early" : "late")\(others).",
            since: nil)
    }

    /// An owner that none of its jobs come on with, for whatever reason, where nothing else explains it.
    var standstill: Diagnosis? {
        var owners: [String: (still: Int, moving: Int, since: Int64)] = [:]
        for number in 0..<state.partitionCount {
            guard let owner = state.partitions[number].owner else { continue }
            for lane in Lane.allCases {
                let place = state.place(.jobs(lane), number)
                guard place.unfinished ?? 0 > 0, let movedAt = place.movedAt else { continue }
                var entry = owners[owner, default: (0, 0, now)]
                let isStill = now - max(movedAt, place.oldest ?? movedAt) > Self.staleMilliseconds
                if isStill { entry.still += 1 } else { entry.moving += 1 }
                if isStill { entry.since = min(entry.since, movedAt) }
                owners[owner] = entry
            }
        }
        let still = owners.filter {
            $0.value.moving == 0 && ($0.value.still > 1 || now - $0.value.since > WatchState.pinnedMilliseconds)
        }
        guard let first = still.min(by: { $0.key < $1.key }) else { return nil }
        return Diagnosis(
            .workerSilent,
            "No job has ended at \(Words.cut(first.key, 80))\(still.count > 1 ? " and \(still.count - 1) more" : "") since \(clock(first.value.since)), though it owns partitions with jobs.",
            since: first.value.since)
    }

    var restoring: Diagnosis? {
        let workers = report.workers.filter { $0.figures?.restoring ?? 0 > 0 }
        let told = workers.reduce(0) { $0 + ($1.figures?.restoring ?? 0) }
        let seen = report.partitions.count { $0.state == .restoring }
        let count = state.restoringByWorkers ?? max(told, seen)
        guard count > 0 else { return nil }
        // A worker of an older version does not tell them.
        let rows = workers.map { $0.figures?.rowsLeft }
        let still = workers.compactMap(\.restoredAt).min()
        var sentence = "\(count) of \(state.partitionCount) partitions are being restored"
        if !rows.isEmpty, !rows.contains(nil) {
            sentence += ", \(Words.count(rows.reduce(0) { $0 + ($1 ?? 0) })) rows to go at most"
        }
        if let still, now - still > Self.workerMilliseconds {
            sentence += ": none has come in since \(clock(still)), so it stands still"
        }
        return Diagnosis(.restoring, sentence + ".", since: still)
    }
}
