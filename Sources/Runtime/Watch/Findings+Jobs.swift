internal import Clocks
internal import ImageModel
internal import Records

extension Findings {
    var poisonJob: Diagnosis? { suspected(crashes: 1) }

    /// - Parameter crashes: minimum number of crashes during which one record was in progress. Workers that end for
    ///   another reason leave the records of each crash, seldom the same.
    func suspected(crashes: Int) -> Diagnosis? {
        for number in 0..<state.partitionCount {
            guard let progress = state.partitions[number].progress, progress.crashes >= 2,
                progress.at > now - Self.deadLetterTime
            else { continue }
            // A record that was finished since then did not make anything crash.
            let pending = progress.quarantined.filter { $0.offset >= state.place($0.topic, number).start ?? 0 }
            let quarantined = pending.sorted { ($0.crashes, $1.offset) > ($1.crashes, $0.offset) }
            guard let worst = quarantined.first, worst.crashes >= crashes else { continue }
            let named = quarantined.prefix(3).map {
                "\(RecordOrigin(topic: $0.topic, partition: progress.partition, offset: $0.offset))"
            }.joined(separator: ", ")
            let more = quarantined.count > 3 ? " and \(quarantined.count - 3) more" : ""
            let records = quarantined.count > 1 ? "one of the records \(named)\(more)" : "the record \(named)"
            return Diagnosis(
                .poisonJob,
                "A job makes workers crash: the owners of partition \(number) crashed \(progress.crashes) times, and \(records) may be why.",
                since: progress.at)
        }
        return nil
    }

    /// The poison job is over. A lane that is late now has another cause.
    var killed: Diagnosis? {
        guard
            let deadLetter = state.deadLetters.newest(JobFailure.Code.poison.rawValue, since: now - Self.deadLetterTime)
        else { return nil }
        return Diagnosis(
            .poisonJob,
            "Workers crashed by the job \(Words.cut(deadLetter.id, 80)), which became a dead letter at \(clock(deadLetter.at)).",
            since: deadLetter.at,
            action:
                "Look at it with mezzotint dead show \(Words.cut(deadLetter.id, 80)), keep its image, report it, and discard the dead letter."
        )
    }

    var pinned: Diagnosis? {
        let pins = report.partitions.compactMap { partition in partition.pinned.map { (partition, $0) } }
        guard isLate, let (partition, pin) = pins.first else { return nil }
        let others = pins.count > 1 ? "; \(pins.count - 1) more are like that" : ""
        return Diagnosis(
            .pinned,
            "Partition \(partition.number) is held at \(pin) by one unfinished job, at \(Words.cut(partition.owner ?? "nobody", 80))\(others).",
            since: state.place(pin.topic, partition.number).movedAt)
    }

    /// The worker's own limit of read-ahead holds back most of a late lane, though renderers could run.
    var readAhead: Diagnosis? {
        for lane in readyLate where report.hasIdleRenderers {
            let own = report.waits.filter { $0.lane == lane.lane.rawValue }
            let crowded = own.filter { $0.reason == .readAhead }
            guard let first = crowded.first, holdsMost(crowded, of: max(sum(own), Double(lane.lag.records ?? 0))) else {
                continue
            }
            return Diagnosis(
                .readAhead,
                "\(lane.lane.title) jobs of \(Words.cut(first.host, 100)) wait for our own read-ahead: \(jobsText(crowded)) of that lane \(Int(sum(crowded).rounded()) == 1 ? "is" : "are") parked, as the host's share of worker.readAhead is full.",
                since: crowded.map(\.since).min())
        }
        return nil
    }

    var saturated: Diagnosis? {
        let late = readyLate
        guard !late.isEmpty else { return nil }
        let names = late.map(\.lane.title).joined(separator: " and ")
        let use = report.rendersInUse.map { "; \(Int((100 * $0).rounded())) % of the renderers are busy" } ?? ""
        return Diagnosis(
            .saturated, "\(names) \(late.count > 1 ? "have" : "has") more to do than is done\(use).",
            since: late.compactMap(\.ready).min(), action: report.hasIdleRenderers ? Advice.idleRenderers : nil)
    }

    /// The topic whose oldest pending job is nearest to its removal by retention, with its age.
    private var expiring: (topic: Topic, age: Duration, kept: Duration)? {
        let found = state.retention.compactMap { topic, kept -> (topic: Topic, age: Duration, kept: Duration)? in
            guard let oldest = state.lag(of: [topic]).oldest, (now - oldest) * 2 > kept else { return nil }
            return (topic, now - oldest, kept)
        }
        return found.min { ($0.kept - $0.age, $0.topic.ordinal) < ($1.kept - $1.age, $1.topic.ordinal) }
    }

    private var expiringText: String? {
        expiring.map { topic, age, kept in
            let left = age < kept ? "in \(Words.span(kept - age))" : "at any moment"
            return
                "\(topic.rawValue) keeps records for \(Words.span(kept)) and its oldest pending job is \(Words.span(age)) old: retention removes it \(left), read or not."
        }
    }

    var retentionShort: Diagnosis? {
        guard let expiring, let text = expiringText else { return nil }
        return Diagnosis(
            .retentionShort, text, since: nil,
            action: state.cluster.map {
                "Raise retention.ms of that topic now (kafka-configs.sh --bootstrap-server \($0.bootstrap) --alter --entity-type topics --entity-name \($0.name(expiring.topic)) --add-config retention.ms=1209600000), then work off the backlog: start more workers."
            })
    }

    var jobsLost: Diagnosis? {
        guard let loss = report.loss else { return nil }
        let place = loss.topics.isEmpty ? "" : " from \(loss.topics.map(\.rawValue).joined(separator: ", "))"
        return Diagnosis(
            .jobsLost,
            "Retention removed at least \(Words.counted(Int(loss.records), "job"))\(place) before a worker had read them, last seen at \(clock(loss.last)) (log.expired).",
            since: loss.last)
    }

    /// Warnings that are shown beside any cause: jobs that were lost within the last day, or soon will be.
    func warnings(beside cause: Cause) -> [String] {
        let lost = report.loss.map { "Lost within the last day: at least \(Words.counted(Int($0.records), "job"))." }
        return [cause == .jobsLost ? nil : lost, cause == .retentionShort ? nil : expiringText].compactMap { $0 }
    }

    var diskFills: Diagnosis? {
        let disks = report.workers.filter { $0.silence == nil }.flatMap { worker in
            (worker.figures?.diskFree ?? [:]).map { (worker.address, $0.key, $0.value) }
        }
        guard let least = disks.min(by: { ($0.2, $0.0) < ($1.2, $1.0) }), least.2 < Self.diskBytes else { return nil }
        return Diagnosis(
            .diskFills,
            "The disk of \(Words.cut(least.1, 40)) at \(Words.cut(least.0, 80)) has \(Words.bytes(least.2)) left.",
            since: nil)
    }

    var deadLetters: Diagnosis? {
        guard let count = report.deadLetters, count > 0 else { return nil }
        let newest = state.deadLetters.newest
        let text =
            "\(report.hasMoreDeadLetters ? "At least " : "")\(Words.count(count)) dead letter\(count == 1 ? " waits" : "s wait") for an operator"
            + (newest.map { ", the newest since \(clock($0.at)) (\($0.code))" } ?? "")
        let (share, example) = deadShare
        return Diagnosis(
            .deadLetters, text + share, since: nil,
            action: newest.flatMap { Advice.action($0.code, host: $0.host) }, example: example)
    }

    /// `; 98 % of the jobs that ended in the last 5 minutes are dead letters.`, if that is at least a fifth, with one
    /// of them.
    private var deadShare: (text: String, example: String?) {
        let tally = state.ends.tally(RecentEnds.span, to: now)
        let dead = tally.bad.filter { $0.key.kind == .dead }
        guard tally.dead >= 20, tally.dead * 5 > tally.jobs, let worst = dead.max(by: { $0.value < $1.value })?.key
        else {
            return (".", nil)
        }
        let share = Words.percent(Double(tally.dead), of: Double(tally.jobs))
        let ofWorst = dead.lazy.filter { $0.key.code == worst.code }.reduce(0) { $0 + $1.value }
        let part = Words.percent(Double(ofWorst), of: Double(tally.dead))
        let code = part == "100 %" ? "" : ", \(part) of them by \(Words.cut(worst.code, 60))"
        return (
            "; \(share) of the jobs that ended in the last 5 minutes are dead letters\(code).",
            example: example(of: worst)
        )
    }

    var fine: Diagnosis { Diagnosis(.fine, "Jobs are begun in time.", since: nil) }
}
