internal import Canonical
internal import Clocks
internal import Glibc
internal import HTTPCache
internal import Hosts
internal import Images
internal import Index
internal import Jobs
internal import LogChoice
internal import Origin
internal import Partition
internal import Permits
internal import Planning
internal import Ports
internal import Posix
internal import RenderProtocol
internal import RendererPool
internal import Settings
internal import StoreChoice
internal import Telemetry
internal import WorkerRuntime

/// The adapters of one worker, built from its settings and combined with the runtime. Only this type knows both.
struct Composition {
    let worker: Worker
    let log: any Log
    let renderers: RendererPool
    private let indexes: IndexFolder

    init(
        _ settings: Settings, _ chosen: ChosenLog, untilIdle: Bool, patience: Duration? = nil, traces: TraceExporter?,
        logger: Logger
    ) async throws {
        let cores = SystemFacts.usableCores
        let renders = settings.renderProcesses(cores: cores)
        let origins = try settings.originConfiguration()
        log = chosen.log
        // Workers of one machine may share a data directory, and own partitions in turn.
        indexes =
            chosen.isShared ? try IndexFolder(firstFreeIn: chosen.indexDirectory) : IndexFolder(chosen.indexDirectory)
        let store = try ChosenStore.site(settings).open(hasRoom: chosen.hasRoomForStore)
        renderers = RendererPool(settings.rendererConfiguration(count: renders)) {
            logger.warning("Renderer output: \($0)")
        }
        do {
            // Without a renderer every job would only wait: it is better to fail at once.
            try await renderers.ready()
        } catch {
            await renderers.stop()
            throw error
        }
        if let reason = renderers.unfiltered {
            logger.warning(
                "The kernel has no filter for system calls: renderers run without it, as render.sandbox allows.",
                ["reason": .string(reason)])
        }
        if !Sandbox.mayCompile { logger.warning("\(Sandbox.uncompiled)") }
        let ports = WorkerPorts(
            log: log, consumer: chosen.consumer(at: indexes.member),
            fetcher: GuardedFetcher(origins) { [renderers] in await renderers.finding(ofStart: $0) },
            renderer: renderers, store: store, indexes: SQLiteVariantIndexes(indexes.path))
        var configuration = WorkerConfiguration(
            partition: settings.partitionRules,
            permits: PermitRules(
                fetch: settings.fetch.concurrency, render: renders,
                slow: settings.slowConcurrency(cores: cores),
                slowWait: settings.lanes.slow.maxWait, origins: settings.originRules),
            canonical: settings.canonicalRules, readAhead: settings.worker.readAhead,
            originalsLimit: settings.store.originalsLimit, drain: settings.worker.drain, untilIdle: untilIdle,
            seed: UInt64.random(in: 0...UInt64.max),
            owner: settings.workerName)
        configuration.permits.lateAfter = PermitRules.usuallyLate
        if settings.lanes.slow.fetches > 0 { configuration.permits.slowFetches = settings.lanes.slow.fetches }
        configuration.permits.seed = UInt64.random(in: 0...UInt64.max)
        configuration.patience = patience
        configuration.tellsOrigins = true
        configuration.adoptsStore = settings.store.adopt
        configuration.keys = settings.jobKeys
        configuration.traces = traces.map { exporter in
            TraceSink(share: settings.traces.share) { exporter.take($0) }
        }
        configuration.standstill = settings.standstill
        worker = Worker(ports, configuration, logger: logger)
    }
}

extension Settings {
    /// Path of `render.program`, or of the renderer in this program's folder.
    var rendererProgram: String {
        guard render.program.isEmpty else { return render.program }
        return "\(SystemFacts.programFolder)/mezzotint-renderer"
    }

    func rendererConfiguration(count: Int) -> RendererConfiguration {
        var configuration = RendererConfiguration(
            program: rendererProgram, inspector: "\(SystemFacts.programFolder)/mezzotint-inspector", count: count,
            deadline: render.deadline,
            limits: renderLimits, engine: EngineChoice(rawValue: render.engine) ?? .direct,
            dataBytes: RenderMemory.heap(render.memory), memoryBytes: render.memory,
            isSandboxOptional: render.sandbox == "optional")
        configuration.isolation = RenderIsolation(rawValue: render.isolation) ?? .image
        configuration.isProgressive = render.progressive
        configuration.keepsBelowSource = render.capAtSourceSize
        configuration.keepsRights = render.metadata == "copyright"
        configuration.watermarks = render.watermarks.isEmpty ? nil : render.watermarks
        return configuration
    }

    private var renderLimits: RenderLimits {
        var limits = RenderLimits()
        limits.formats = Set(render.formats)
        limits.animationPixels = render.animation.pixelLimit
        limits.animationDuration = Int(render.animation.duration.milliseconds)
        (limits.pixels, limits.memory) = (render.pixelLimit, render.memory)
        limits.frames = render.frameLimit
        limits.scans = render.scanLimit
        limits.chunks = render.chunkLimit
        return limits
    }

    var partitionRules: PartitionRules {
        var policy = RetryPolicy(
            attempts: retry.attempts, base: retry.base, cap: retry.cap)
        policy.retryForFast = retry.retryFor.fast
        policy.retryFor = retry.retryFor.slow
        var rules = PartitionRules(
            reuse: ReuseRules(
                isEnabled: reuse.enabled, lossBudget: reuse.lossBudget, allowsStale: reuse.allowStale),
            retry: policy, maxAge: store.maxAge, qualities: canonicalRules.defaultQualities)
        rules.sent = sentHeaders
        rules.freshness.floor = origins.freshness.floor
        rules.freshness.ceiling = origins.freshness.ceiling
        rules.freshness.ifError = origins.staleIfError
        rules.freshness.whileRevalidate = origins.staleWhileRevalidate
        return rules
    }

    var originRules: OriginRules {
        var rules = OriginRules(
            concurrency: origins.concurrency, failures: origins.breaker.failures,
            backoff: origins.backoff)
        rules.pause = origins.breaker.pause
        rules.pauseCap = min(rules.pauseCap, rules.pause * 20)
        rules.groups = originGroups
        for group in origins.groups {
            rules.limits[group.name] = OriginRules.GroupLimits(
                concurrency: group.concurrency > 0 ? group.concurrency : nil, rate: group.rate > 0 ? group.rate : nil,
                bytesPerSecond: group.bytesPerSecond > 0 ? group.bytesPerSecond : nil,
                attempts: group.attempts > 0 ? group.attempts : nil)
            let freshness = freshness(of: group)
            rules.limits[group.name]?.floor = freshness.floor
            rules.limits[group.name]?.ceiling = freshness.ceiling
        }
        return rules
    }

    func originConfiguration() throws -> OriginConfiguration {
        try OriginConfiguration(
            fetch.origin, most: origins.groups.reduce(origins.concurrency) { max($0, $1.concurrency) },
            sent: sentHeaders)
    }

    private var sentHeaders: SentHeaders {
        var sent = SentHeaders(userAgent: fetch.origin.userAgent)
        for (group, own) in zip(originGroups, origins.groups) where group.hasHeaders {
            sent.groups.append((group, own.headers.compactMap(\.revealed)))
        }
        return sent
    }
}
