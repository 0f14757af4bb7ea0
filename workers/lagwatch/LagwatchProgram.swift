internal import CommandLine
internal import Glibc
internal import LogChoice
internal import Posix
internal import Settings
internal import Telemetry

/// Watches log, group and workers from outside, and shows what delays the jobs.
@main
struct LagwatchProgram {
    static let command = Command(
        "mezzotint-lagwatch", abstract: "Serve a page that diagnoses lag: what is late, why, and what to do.",
        examples: ["mezzotint-lagwatch --config config/kafka.yaml --listen 127.0.0.1:9465"],
        options: Option.configuration + [
            Option(
                "listen", value: "address:port",
                help: "Where to serve /, /source, /api/v1/state, /metrics, /healthz (127.0.0.1:9465).")
        ]
    ) { try await run($0) }

    static func main() async {
        ProcessEnvironment.forgetLibraries()
        await command.main()
    }

    private static let address = "127.0.0.1:9465"

    private static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
        let text = arguments.value("listen") ?? address
        guard let listen = ListenAddress(text) else {
            throw UsageError(
                "'--listen': expected an IP address and a port, such as \(address) or [::1]:9465, got '\(text)'.")
        }
        let settings = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings
        OpenFileLimit.raise()
        let logger = Logger(level: Logger.Level(rawValue: settings.logging.level) ?? .info)
        signal(SIGPIPE, SIG_IGN)
        // It holds nothing that must be saved.
        for number in [SIGINT, SIGTERM] { signal(number) { _ in _exit(0) } }
        let observer = Observer(settings, logger: logger)
        let server = try PageServer(listen, settings, observer)
        logger.info("The page is served.", ["at": .string("\(server.address)/")])
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await observer.watchLog() }
            group.addTask { await observer.watchNames() }
            for silent in [false, true] { group.addTask { await observer.watchWorkers(silent: silent) } }
            group.addTask { await server.keepFresh() }
            await group.waitForAll()
        }
        return .success
    }
}
