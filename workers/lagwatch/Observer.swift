internal import Canonical
internal import Clocks
internal import Failures
internal import Glibc
internal import ImageModel
internal import KafkaSetup
internal import LogChoice
internal import Ports
internal import Posix
internal import Records
internal import Settings
internal import Telemetry
internal import Watch

/// Polls the log and the workers, and folds their responses.
///
/// - Concurrency: one poll of the log at a time; while it waits for a response, reports use the known state.
/// - Failure: a missing response is shown as such, and requested again at the next poll.
actor Observer {
    private let settings: Settings
    private let logger: Logger
    let reading: RecordReading
    let rules: CanonicalRules
    private let pace: Pace
    private let scraper = WorkerScraper()
    let lookups: Turnstile
    private var places: WorkerPlaces
    private(set) var view: (any LogView)?
    private var state: WatchState
    private var tails: TailReading
    private var hosts = Observer.hosts()
    /// Number of polls so far.
    private var turn = 0
    private var lastCause = Cause.starting
    private var steady = SteadyDiagnosis()
    /// When it last logged that something cannot be read.
    private var toldAt: ContinuousClock.Instant?

    init(_ settings: Settings, logger: Logger) {
        (self.settings, self.logger) = (settings, logger)
        rules = settings.canonicalRules
        reading = RecordReading(rules: rules, groups: settings.originGroups)
        pace = settings.kafkaConfiguration == nil ? .embedded : .kafka
        lookups = Turnstile(rest: pace.lookups)
        places = WorkerPlaces(settings.watch.workers.map { .init($0.description, name: $0.name, port: $0.port) })
        (state, tails) = (Self.state(settings, partitions: 0), TailReading(partitions: 0, topics: []))
    }

    private static func state(_ settings: Settings, partitions: Int) -> WatchState {
        WatchState(
            partitions: partitions, targets: settings.lanes.targets, isShared: settings.kafkaConfiguration != nil,
            cluster: settings.kafkaConfiguration.map {
                ClusterName(bootstrap: $0.bootstrap, group: $0.group, prefix: $0.prefix)
            })
    }

    /// Reading of `origins`, whose rows all lie in one partition.
    private static func hosts() -> TailReading { TailReading(partitions: 1, topics: [.origins]) }

    /// The current report.
    func report() -> WatchReport {
        var report = WatchReport(state, at: SystemTime.wall)
        report.settle(by: &steady)
        if report.diagnosis.cause != lastCause {
            lastCause = report.diagnosis.cause
            logger.notice(
                "\(report.diagnosis.sentence)",
                ["cause": .string(report.diagnosis.cause.rawValue), "action": .string(report.diagnosis.action)])
        }
        return report
    }

    /// Hosts that are blocked now, with the end of each block.
    var blockedHosts: [String: WallTime] { state.blockedHosts(at: SystemTime.wall) }

    /// Polls the log until the task is cancelled.
    func watchLog() async {
        while !Task.isCancelled {
            let begun = ContinuousClock.now
            await look()
            // Measured from one start to the next; after a slow poll, at least a quarter of the interval is idle.
            let took = ContinuousClock.now - begun
            try? await Task.sleep(for: max(pace.interval - took, pace.interval / 4))
        }
    }

    /// Polls either the responding or the silent workers: a silent one takes seconds, and must not delay the others.
    func watchWorkers(silent: Bool) async {
        while !Task.isCancelled, !settings.watch.workers.isEmpty {
            apply(.asked(places.places))
            await scraper.ask(state.workers(silent: silent)) { await self.apply(.workers([$0])) }
            try? await Task.sleep(for: Pace.workers)
        }
    }

    /// Runs apart from the workers, because an unreachable resolver takes seconds.
    func watchNames() async {
        while !Task.isCancelled, !places.names.isEmpty {
            for name in places.names { places.learn(await NameLookup.addresses(of: name), of: name) }
            try? await Task.sleep(for: Pace.names)
        }
    }

    private func apply(_ event: WatchEvent) { state.apply(event, at: SystemTime.wall) }

    private func opened() async -> (any LogView)? {
        if let view, view.isInPlace { return view }
        if view != nil { logger.notice("The log was removed or replaced: the log of that name is opened again.") }
        view = nil
        do throws(LogFailure) {
            let opened = try await ChosenLog.view(settings)
            (view, state) = (opened, Self.state(settings, partitions: opened.partitionCount))
            apply(.asked(places.places))
            hosts = Self.hosts()
            tails = TailReading(
                partitions: opened.partitionCount,
                topics: [.dead, .outcomes] + (opened.isIndexed ? [] : [.variants]))
            return opened
        } catch {
            // An embedded log does not exist before the first job.
            if state.respondedAt == nil, let file = settings.embeddedLogFile,
                FileSystem.length(of: file) == 0 || (access(file, F_OK) != 0 && errno == ENOENT)
            {
                apply(.unpublished(settings.logDirectory))
            } else {
                apply(.silence(error.description, code: error.code))
            }
            return nil
        }
    }

    private func look() async {
        guard let view = await opened() else { return }
        turn += 1
        let partitions = (0..<Int32(view.partitionCount)).map { PartitionID($0) }
        let points =
            (Topic.consumed + [.parked] + tails.topics).flatMap { topic in partitions.map { LogPoint(topic, $0, nil) } }
            + [LogPoint(.origins, OriginRow.partition, nil)]
        let askedAt = SystemTime.wall
        let results = await view.offsets(of: points)
        apply(.offsets(results, of: points))
        guard !state.isSilent else { return }
        for (point, result) in zip(points, results) {
            if case .success(let offsets) = result {
                tails.learn(offsets)
                hosts.learn(offsets)
            } else {
                tails.forget(point)
                hosts.forget(point)
            }
        }
        await lookAtCluster(view)
        // Retention changes only by hand, and a client without the right to read it works without it.
        if turn % Pace.retentionLooks == 1, let kept = try? await view.retention() { apply(.retention(kept)) }
        let heads = state.headsToRead(pace.heads)
        for (point, result) in zip(heads, await view.appendTimes(at: heads)) {
            switch result {
            case .success(let appended): apply(.head(point, appended: appended))
            case .failure(let failure): tell(failure)
            }
        }
        await readHosts(view)
        await sample(view)
        await readTails(view)
        if view.isIndexed {
            await readOwnership(view, partitions, at: askedAt)
        } else {
            for partition in partitions {
                apply(.changelog(partition, readAt: tails.isRead(.variants, partition) ? askedAt : nil))
            }
        }
    }

    private func lookAtCluster(_ view: any LogView) async {
        do throws(LogFailure) {
            let members = try await view.members()
            apply(.owners(members.owners))
            apply(.members(members))
            for partition in state.partitionsToSearch(1, at: SystemTime.wall) {
                let key = RecordKey.epoch(partition).bytes
                for event in reading.ownership(try await view.latest(.variants, partition, keyPrefix: key)) {
                    apply(event)
                }
                apply(.searched(partition))
            }
        } catch { tell(error) }
        if turn % Pace.growth == 1 {
            do throws(LogFailure) {
                apply(.grown(try await view.grownTopics()))
                apply(.unusableTopics(nil))
            } catch {
                if case .topics = error { apply(.unusableTopics(error.description)) } else { tell(error) }
            }
        }
        let hidden = state.hiddenToRead(pace.samples, at: SystemTime.wall)
        guard !hidden.isEmpty else { return }
        for (point, result) in zip(hidden, await view.hiddenTimes(at: hidden)) {
            switch result {
            case .success(let appended): apply(.hidden(point, appended: appended))
            case .failure(let failure): tell(failure)
            }
        }
    }

    /// Reads hosts: every few seconds, workers publish the state of hosts in trouble.
    private func readHosts(_ view: any LogView) async {
        guard let point = hosts.next(1, records: pace.hostRecords).first else {
            if hosts.isWhole { apply(.hosts([])) }
            return
        }
        guard let records = await read(point, of: view, limit: pace.hostRecords) else { return }
        _ = hosts.read(point, records)
        apply(.hosts(reading.hosts(records)))
    }

    /// Reads records; nil if they cannot be read: the known state of the topic-partition stays.
    private func read(_ point: LogPoint, of view: any LogView, limit: Int) async -> [Record]? {
        do throws(LogFailure) {
            return try await view.read(point.topic, point.partition, from: point.offset ?? 0, limit: limit)
        } catch {
            tell(error)
            return nil
        }
    }

    /// Logs at most once a minute: where one read fails, others do, too.
    private func tell(_ failure: LogFailure) {
        let now = ContinuousClock.now
        if let toldAt, now - toldAt < .seconds(60) { return }
        toldAt = now
        logger.warning("Not all of the log can be read: \(failure)", ["code": .string(failure.code)])
    }

    private func sample(_ view: any LogView) async {
        for point in state.partitionsToSample(pace.samples) {
            guard let records = await read(point, of: view, limit: pace.sampleRecords) else { continue }
            apply(.sample(reading.sample(records, of: point.topic, point.partition)))
        }
    }

    private func readTails(_ view: any LogView) async {
        for point in tails.next(pace.tails, records: pace.tailRecords, urgent: Set(state.partitionsToProve)) {
            guard let records = await read(point, of: view, limit: pace.tailRecords) else { continue }
            let isWhole = tails.read(point, records)
            switch point.topic {
            case .outcomes: apply(.ended(reading.ends(records)))
            case .dead: apply(.deadLetters(reading.deadLetters(records, of: point.partition, isWhole: isWhole)))
            default: for event in reading.ownership(records) { apply(event) }
            }
        }
        for partition in tails.emptyDeadLetters() { apply(.deadLetters(DeadLetterChange(partition, isWhole: true))) }
        if state.forgotDeadLetters() { tails.rereadDeadLetters() }
    }

    /// Reads ownership, if the log finds these rows at once: some partitions in each poll. Partitions with a new owner
    /// come first, then the others in turn.
    private func readOwnership(_ view: any LogView, _ partitions: [PartitionID], at askedAt: WallTime) async {
        let urgent = state.partitionsToProve
        let inTurn = (0..<min(pace.rows, partitions.count)).map {
            partitions[(turn * pace.rows + $0) % partitions.count]
        }
        for partition in (urgent + inTurn.filter { !urgent.contains($0) }).prefix(pace.rows) {
            guard let rows = try? await view.latest(.variants, partition, keyPrefix: Array("@".utf8)) else { continue }
            for event in reading.ownership(rows) { apply(event) }
            apply(.changelog(partition, readAt: askedAt))
        }
    }
}

/// Number of requests in one poll. On Kafka no broker gets more than five requests a second.
struct Pace: Sendable {
    let interval: Duration
    /// Topic-partitions whose first unfinished record is read.
    let heads: Int
    let samples: Int
    let sampleRecords: Int
    let tails: Int
    let tailRecords: Int
    let hostRecords: Int
    let rows: Int
    /// Pause between two source pages, each of which makes about ten requests.
    let lookups: Duration

    static let workers = Duration.seconds(2)
    /// Polls between two checks of the topics' partition counts: half a minute on Kafka.
    static let growth = 10
    static let names = Duration.seconds(10)
    /// Polls between two checks of topics' retention: a minute.
    static let retentionLooks = 20
    static let embedded = Pace(
        interval: .seconds(2), heads: 512, samples: 16, sampleRecords: PlaceSample.most, tails: 32, tailRecords: 500,
        hostRecords: 5_000, rows: 16, lookups: .zero)
    static let kafka = Pace(
        interval: .seconds(3), heads: 32, samples: 2, sampleRecords: 250, tails: 2, tailRecords: 250,
        hostRecords: 2_500, rows: 0, lookups: .seconds(5))
}
