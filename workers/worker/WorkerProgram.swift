internal import CommandLine
internal import Dispatch
internal import Glibc
internal import ImageModel
internal import LogChoice
internal import Ports
internal import Posix
internal import RendererPool
internal import Settings
internal import Synchronization
internal import Telemetry
internal import WorkerRuntime

/// The worker: runs until it is stopped, or until it is idle.
@main
struct WorkerProgram {
    static let command = Command(
        "mezzotint-worker", abstract: "Fetch sources, render variants and store them, until stopped.",
        examples: [
            "mezzotint-worker --config config/embedded.yaml", "mezzotint-worker --set data=/srv/mezzotint --until-idle",
        ],
        options: Option.configuration + [
            Option(
                flag: "until-idle",
                help:
                    "Exit when no job is pending, parked ones included. On Kafka: in this worker's partitions, for 2 seconds. With status 1: after 60s behind an open transaction, and beside records in partitions that no worker reads."
            ),
            Option(
                "patience", value: "duration",
                help:
                    "With --until-idle: also exit when no job is due within this time, such as 0s or 10m."
            ),
            Option(
                flag: "json",
                help: "Print the summary at the end, also after SIGTERM, as one line of JSON instead of a table."),
        ]
    ) { arguments in
        do {
            return try await run(arguments)
        } catch {
            LogOutput.standardError.end(with: "\(error)")
            throw error
        }
    }

    static func main() async {
        ProcessEnvironment.forgetLibraries()
        await command.main()
    }

    static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
        let begun = SystemTime.wall
        let settings = try Settings.loaded(
            arguments, inspect: { ChosenLog.problems(of: $0) + $0.jobs.problems + $0.fetch.problems }
        )
        .settings
        let patience = try arguments.value("patience").map { text throws(UsageError) in
            guard arguments.flag("until-idle") else { throw UsageError("--patience requires --until-idle.") }
            guard let patience = Duration(parsing: text) else {
                throw UsageError("--patience: expected a duration such as 0s, 30s or 10m, got '\(text)'.")
            }
            return patience
        }
        // Each source that waits for a renderer is an open file, and there may be thousands.
        OpenFileLimit.raise()
        let logger = Logger(level: Logger.Level(rawValue: settings.logging.level) ?? .info)
        // An origin that hangs up on TLS, or a reader of our messages that disappears, must not end the worker; libcurl
        // is set to leave signals alone. Children get the default back.
        signal(SIGPIPE, SIG_IGN)
        let signals = StopSignals()
        let metrics = try settings.metrics.listen.map { address throws(MetricsFailure) in
            try MetricsServer(address, started: begun)
        }
        if let metrics {
            logger.info("Metrics are served.", ["at": .string("\(metrics.address)/metrics")])
        }
        let started = ContinuousClock.now
        let traces = TraceExporter(settings, logger: logger)
        settings.makeData()
        let last = settings.metrics.listen.flatMap { LastLine(path: "\(settings.data)/last-line-\($0)") }
        if let last {
            metrics?.report(last)
            LogOutput.standardError.keep(in: last)
        }
        let untilIdle = arguments.flag("until-idle")
        let chosen = try await LogOpening(
            settings: settings, isPatient: !untilIdle, logger: logger, metrics: metrics, signals: signals
        ).open()
        let composition = try await Composition(
            settings, chosen, untilIdle: untilIdle, patience: patience, traces: traces, logger: logger)
        let worker = composition.worker
        let deadline = StopDeadline(of: worker, logger: logger)
        let failure: (any Error)? = await withTaskGroup(of: (any Error)?.self) { group in
            if let metrics {
                let source = MetricsSource(
                    worker, composition.log, composition.renderers, Surroundings(settings), traces: traces,
                    started: begun, crashes: last?.crashes)
                metrics.serve(source)
                group.addTask {
                    await source.watchLog()
                    return CancellationError()
                }
            }
            if let traces {
                group.addTask {
                    await traces.run()
                    return CancellationError()
                }
            }
            group.addTask {
                do {
                    try await worker.run {
                        logger.info(
                            "The worker runs.",
                            [
                                "data": .string(settings.data),
                                "renderers": .int(Int64(composition.renderers.configuration.count)),
                            ])
                    }
                } catch {
                    return error
                }
                return nil
            }
            group.addTask {
                var isDraining = false
                for await number in signals.received {
                    // Second signal: exit at once. Unfinished work is redone at the next start.
                    if isDraining { _exit(128 + number) }
                    isDraining = true
                    deadline.begin(settings.worker.drain)
                    // Not awaited: its thread may hang, and a second signal must still be received.
                    Task { await worker.drain() }
                }
                return CancellationError()
            }
            group.addTask {
                await Progress(
                    worker, log: composition.log, targets: settings.lanes.targets, logger: logger
                ).show()
                return CancellationError()
            }
            // The first task to end without being cancelled is the worker itself.
            var ended: (any Error)?
            for await result in group where !(result is CancellationError) {
                ended = result
                signals.stop()
                group.cancelAll()
            }
            return ended
        }
        deadline.note("its traces are not sent")
        await traces?.flush()
        let status = await worker.status
        let summary = Summary(
            status, seconds: (ContinuousClock.now - started) / .seconds(1),
            renderers: composition.renderers.peakMemoryBytes)
        deadline.note("its renderers have not ended")
        await composition.renderers.stop()
        deadline.note("its log is not closed")
        await composition.log.close()
        // A worker that never began has nothing to sum up.
        let left = status.hidden + status.unread + status.stopped
        if let failure, status.counters.jobs + status.counters.requests + left == 0 { throw failure }
        Console.print(arguments.flag("json") ? summary.json : summary.table)
        if let failure { throw failure }
        LogOutput.standardError.end(with: nil)
        return .success
    }
}

/// SIGINT and SIGTERM as a stream.
final class StopSignals: Sendable {
    let received: AsyncStream<Int32>
    private let idle = Flag()
    private final class Flag: Sendable { let isSet = Atomic(false) }
    /// Whether a signal ends the process immediately, with status 0, because it has nothing to finish yet.
    var endsAtOnce: Bool {
        get { idle.isSet.load(ordering: .relaxed) }
        set { idle.isSet.store(newValue, ordering: .relaxed) }
    }
    private let continuation: AsyncStream<Int32>.Continuation
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

    init() {
        let (received, continuation) = AsyncStream<Int32>.makeStream()
        (self.received, self.continuation) = (received, continuation)
        let idle = idle
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                if idle.isSet.load(ordering: .relaxed) {
                    LogOutput.standardError.end(with: nil)
                    _exit(0)
                }
                continuation.yield(number)
            }
            source.resume()
            return source
        }
    }

    func stop() { continuation.finish() }
}
