internal import Canonical
internal import Clocks
internal import CommandLine
internal import Failures
internal import ImageModel
internal import Images
internal import Jobs
internal import Partition
internal import Planning
internal import Ports
internal import Posix
internal import Records
internal import RendererPool
internal import Synchronization
internal import Telemetry
internal import WebServer
internal import WorkerRuntime

/// Metrics of a worker: its figures, and the last data of the log and of the renderers.
final class MetricsSource: Sendable {
    private let worker: Worker
    private let log: any Log
    private let renderers: RendererPool
    /// Start time of the process.
    private let started: WallTime
    private let view = Mutex(LogHearing())
    private let surroundings: Surroundings
    private let traces: TraceExporter?
    /// nil: they are not counted.
    private let crashes: Int?

    private static let lagInterval = Duration.seconds(2)
    /// Age of the last turn after which a worker counts as hanging, and should be restarted.
    private static let silence = Duration.seconds(60)
    /// Age of the last turn after which requests no longer wait for the worker.
    private static let patience = Duration.seconds(5)

    init(
        _ worker: Worker, _ log: any Log, _ renderers: RendererPool, _ surroundings: Surroundings,
        traces: TraceExporter?, started: WallTime, crashes: Int?
    ) {
        (self.worker, self.log, self.renderers, self.started) = (worker, log, renderers, started)
        (self.surroundings, self.traces, self.crashes) = (surroundings, traces, crashes)
    }

    /// Polls the log every few seconds, until the task is cancelled.
    func watchLog() async {
        while !Task.isCancelled {
            var view = view.withLock { view in
                view.ask(at: SystemTime.monotonic)
                return view
            }
            await view.look(at: log, await worker.status)
            self.view.withLock { [view] in $0 = view }
            try? await Task.sleep(for: Self.lagInterval)
        }
    }

    /// It never fails because a broker is away or the backlog is large: a new process would change neither.
    var health: WebServer.Response {
        if worker.silence > Self.silence, let standstill { return standstill }
        if let standstill = worker.standstill { return .text("\(standstill)\n", status: 503) }
        return .text("The worker lives.\n")
    }

    /// Immediate response for a hanging worker, whose thread would block the request.
    var standstill: WebServer.Response? {
        guard worker.silence > Self.patience else { return nil }
        return .text(
            "The worker has not looked at its work for \(worker.silence.components.seconds) s.\n", status: 503)
    }

    func readiness() async -> WebServer.Response {
        let status = await worker.status
        if status.isReady { return .text("The worker takes jobs: it owns \(status.owned.count) partitions.\n") }
        let why =
            if status.isStopping { "it is stopping" } else if status.restoring > 0 {
                "\(status.restoring) partitions are being restored"
            } else if status.stopped > 0 {
                "\(status.stopped) partitions are stopped (log.recreated)"
            } else {
                "it owns no partitions yet"
            }
        return .text("The worker takes no jobs: \(why).\n", status: 503)
    }

    func page() async -> MetricsPage {
        let status = await worker.status
        let timings = await worker.timings
        let view = view.withLock { $0.known(at: SystemTime.monotonic) }
        var page = MetricsPage()
        for metric in Metric.allCases {
            if metric.isHistogram {
                page.add(metric, histograms: Self.histograms(of: metric, timings))
            } else {
                page.add(metric, samples(of: metric, status, timings, view))
            }
        }
        return page
    }

    private func samples(
        of metric: Metric, _ status: WorkerStatus, _ timings: Timings, _ view: LogHearing
    ) -> [MetricsPage.Sample] {
        typealias Sample = MetricsPage.Sample
        let counters = status.counters
        // The new owner reports a partition that this worker has released meanwhile.
        let lags =
            (view.lags ?? []).filter { status.owned.contains($0.partition) }
            + status.parked.map { PartitionLag(parked: $1, of: $0) }
        switch metric {
        case .jobWait, .jobWork, .fetchTime, .renderTime, .storePut, .logAppend: return []
        case .buildInfo: return [Sample(1.0, Command.version, surroundings.client)]
        case .logConnected: return view.isConnected.map { [Sample($0 ? 1.0 : 0)] } ?? []
        case .partitions: return [Sample(log.partitionCount)]
        case .deadLetters:
            return status.owned.compactMap { partition in
                view.deadLetters(of: partition).map { Sample($0, "\(partition)") }
            }
        case .donorRefusals:
            return DonorRefusal.allCases.map { Sample(timings.refusals[$0] ?? 0, $0.rawValue) }
        case .storedBytes: return [Sample(counters.storedBytes)]
        case .diskFree: return surroundings.freeBytes.map { Sample($0.free, $0.folder) }
        case .spans:
            let counts = traces?.counts ?? (sent: 0, dropped: 0)
            return [Sample(counts.sent, "sent"), Sample(counts.dropped, "dropped")]
        case .rendererCPU:
            let children = renderers.processes + renderers.parents + renderers.inspectorProcesses
            return [Sample(surroundings.childrenCPU(of: children).seconds)]
        case .openFiles: return Surroundings.openFiles.map { [Sample($0)] } ?? []
        case .openFilesLimit: return [Sample(OpenFileLimit.current)]
        case .partitionsOwned: return [Sample(status.owned.count)]
        case .partitionsAssigned: return [Sample(status.assignments)]
        case .partitionsRestoring: return [Sample(status.restoring)]
        case .pauses: return status.pauses.counts.sorted { $0.key < $1.key }.map { Sample($0.value, $0.key) }
        case .restoreRowsLeft: return [Sample(status.rowsLeft)]
        case .restoredRows: return [Sample(status.restoredRows)]
        case .jobs:
            return Lane.allCases.flatMap { lane in
                OutcomeKind.allCases.map { Sample(counters.jobs($0, on: lane), lane.rawValue, $0.rawValue) }
            }
        case .jobFailures: return Self.byCode(counters.endCodes, Self.stageCodes + Self.jobCodes)
        case .retries: return [Sample(counters.retries)]
        case .variants:
            return [("stored", counters.stored), ("reused", counters.reused), ("unchanged", counters.unchanged)]
                .map { Sample($0.1, $0.0) }
        case .fetches: return [Sample(counters.requests)]
        case .sourceChecks: return SourceCheck.allCases.map { Sample(counters.checks[$0] ?? 0, $0.rawValue) }
        case .originChecks:
            return counters.hosts.flatMap { host, counts in
                [
                    Sample(counts.matches, "\(host)", "match"),
                    Sample(counts.checks - counts.matches, "\(host)", "change"),
                ]
            }
        case .staleOutcomes: return counters.hosts.map { Sample($1.stale, "\($0)") }
        case .fetchedBytes: return [Sample(counters.fetchedBytes)]
        case .renders: return [Sample(counters.renders)]
        case .failures: return Self.byCode(counters.failures, Self.stageCodes + ControlFailure.catalogue.map(\.code))
        case .recordsUnfinished:
            return Topic.consumed.map { Sample(status.unfinished[$0] ?? 0, $0.rawValue) }
        case .recordsFinishedAhead:
            return Topic.consumed.map { Sample(status.finishedAhead[$0] ?? 0, $0.rawValue) }
        case .outcomesPending: return [Sample(status.answers)]
        case .workUnderWay: return [Sample(status.underWay)]
        case .stepSources: return status.steps.map { Sample($0.sources, "\($0.step)") }
        case .stepOldest: return status.steps.map { Sample($0.oldest.seconds, "\($0.step)") }
        case .permits: return status.permits.map { Sample($0.all, $0.kind) }
        case .permitsInUse: return status.permits.map { Sample($0.used, $0.kind) }
        case .lagRecords: return lags.map { Sample($0.records, $0.topic.rawValue, "\($0.partition)") }
        case .lagSeconds:
            return lags.map {
                Sample($0.seconds(at: SystemTime.wall), $0.topic.rawValue, "\($0.partition)")
            }
        case .clockSkew: return status.clockSkew.map { [Sample($0.seconds)] } ?? []
        case .rendererLosses: return [Sample(renderers.losses)]
        case .rendererMemory:
            let children = renderers.processes + renderers.parents + renderers.inspectorProcesses
            return [Sample(children.reduce(0) { $0 + ($1.memory?.now ?? 0) })]
        case .processCPU: return [Sample(ProcessMemory.ownCPUTime.seconds)]
        case .processMemory: return [Sample(ProcessMemory.of()?.now ?? 0)]
        case .processStart: return [Sample(Double(started.milliseconds) / 1000)]
        case .crashes: return crashes.map { [Sample($0)] } ?? []
        }
    }

    /// Codes of the stages have samples from the start: an alert on the first failure needs the 0 before it.
    private static let stageCodes: [String] = [
        FetchFailure.catalogue, RenderFailure.catalogue, StoreFailure.catalogue, IndexFailure.catalogue,
        LogFailure.catalogue, RecordFailure.catalogue, StageFault.catalogue,
    ].flatMap { $0.map(\.code) }

    /// Codes of records that are not jobs.
    private static let jobCodes = (CanonicalFailure.catalogue + JobFailure.catalogue + CacheFailure.catalogue)
        .map(\.code)

    private static func histograms(
        of metric: Metric, _ timings: Timings
    ) -> [(labels: [String], histogram: Histogram)] {
        func byLane(_ histograms: [Histogram]) -> [(labels: [String], histogram: Histogram)] {
            Lane.allCases.map { ([$0.rawValue], histograms[$0.ordinal]) }
        }
        return switch metric {
        case .jobWait: byLane(timings.waits)
        case .jobWork: byLane(timings.works)
        case .fetchTime: byLane(timings.fetches)
        case .storePut: byLane(timings.puts)
        case .logAppend: [([], timings.appends)]
        case .renderTime:
            Lane.allCases.flatMap { lane in
                timings.renders[lane.ordinal].sorted { $0.key < $1.key }.map { ([lane.rawValue, $0.key], $0.value) }
            }
        default: []
        }
    }

    private static func byCode(_ counts: [String: Int], _ known: [String]) -> [MetricsPage.Sample] {
        Set(counts.keys).union(known).sorted().map { MetricsPage.Sample(counts[$0] ?? 0, $0) }
    }
}
