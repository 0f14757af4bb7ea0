internal import Clocks
import CommandLine
import Glibc
internal import Images
import JSONText
import LogChoice
import Ports
import Posix
internal import Records
import RenderProtocol
import RendererPool
import Settings
import StoreChoice
import Synchronization
import WebServer

/// `mezzotint doctor`: tests on this machine everything that a worker with these settings needs.
enum DoctorCommand {
    static let command = Command(
        "doctor", abstract: "Check that this machine can run a worker.",
        examples: ["mezzotint doctor", "mezzotint doctor --config config/kafka.yaml --json"], options: [.json]
    ) { arguments in
        let settings = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings
        let program =
            settings.render.program.isEmpty
            ? "\(SystemFacts.programFolder)/mezzotint-renderer" : settings.render.program
        let renderer = libraries(program)
        var findings = [Finding(check: "version", isOK: true, message: Command.version), renderer]
        // Another program may succeed with any arguments.
        if renderer.isOK { findings += sandbox(program, settings) + layers(program) + [loops] }
        let store = await ChosenStore.site(settings).trial()
        findings += [
            directory("data", settings.data),
            Finding(check: store.subject, isOK: store.isOK, message: store.message),
        ]
        findings += await log(settings)
        if !settings.render.watermarks.isEmpty { findings.append(watermarks(settings.render.watermarks)) }
        if let listen = settings.metrics.listen { findings.append(metrics(listen)) }
        if arguments.flag("json") {
            Output.array(findings) { json, finding in
                json.field("check", finding.check)
                json.key("ok")
                json.boolean(finding.isOK)
                json.key("required")
                json.boolean(finding.isRequired)
                json.field("message", finding.message)
            }
        } else {
            Console.write(
                TextTable.text(
                    ["", "CHECK", "MESSAGE"],
                    findings.map { [$0.isOK ? "ok" : $0.isRequired ? "BAD" : "-", $0.check, $0.message] }))
        }
        return findings.allSatisfy { $0.isOK || !$0.isRequired } ? .success : .failure
    }

    private struct Finding {
        var check: String
        var isOK: Bool
        /// Whether a worker needs it.
        var isRequired = true
        var message: String
    }

    private static func libraries(_ program: String) -> Finding {
        do throws(SystemFailure) {
            let (ours, theirs) = try PacketSocket.pair()
            let child = try ChildProcess(program: program, arguments: ["check", "versions"], socket: theirs)
            defer { _ = child.reap() }
            guard ours.waits(upTo: .seconds(10)), let message = try ours.receive(limit: 4096) else {
                child.kill()
                return Finding(check: "renderer", isOK: false, message: "\(program) does not report its libraries.")
            }
            return Finding(check: "renderer", isOK: true, message: String(decoding: message.bytes, as: UTF8.self))
        } catch {
            return Finding(
                check: "renderer", isOK: false, message: "\(error). Build mezzotint-renderer, or set render.program.")
        }
    }

    /// Runs a child for each forbidden act, under the limits and the filter of renderers: no act may succeed.
    private static func sandbox(_ program: String, _ settings: Settings) -> [Finding] {
        var findings: [Finding] = []
        for (act, does) in [
            ("open", "opens a file"), ("exec", "starts a program"), ("socket", "makes a socket"),
            ("signal", "signals another process"), ("share", "maps shared memory"),
            ("memory", "takes more memory than it may"),
        ] {
            let check = "sandbox, \(act)"
            do throws(SystemFailure) {
                let (ours, theirs) = try PacketSocket.pair()
                let child = try ChildProcess(
                    program: program,
                    arguments: ["check", act, "--data-limit", "\(RenderMemory.heap(settings.render.memory))"],
                    socket: theirs)
                switch child.reap() {
                case .status(0): findings.append(Finding(check: check, isOK: true, message: "blocked, as it should be"))
                case .signal(Int(SIGSYS)):
                    findings.append(
                        Finding(
                            check: check, isOK: true, message: "blocked, as it should be; the attempt ended the process"))
                case .status(let status) where status == 1 || status == 4:
                    let told =
                        try ours.waits(upTo: .zero)
                        ? ours.receive(limit: 4096).map { String(decoding: $0.bytes, as: UTF8.self) } : nil
                    // It is the same for every act.
                    return [lacking(isFilter: status == 1, told ?? "no reason was reported", settings)]
                case let end:
                    findings.append(
                        Finding(
                            check: check, isOK: false,
                            message: "A renderer \(does), which the sandbox should block (\(end)). Do not use it."))
                }
            } catch {
                findings.append(Finding(check: check, isOK: false, message: "\(error)"))
            }
        }
        return findings
    }

    /// Tests each layer behind the filter: a renderer runs without a missing layer.
    private static func layers(_ program: String) -> [Finding] {
        guard let (ours, theirs) = try? PacketSocket.pair(),
            let child = try? ChildProcess(program: program, arguments: ["check", "layers"], socket: theirs)
        else { return [] }
        let told = ours.waits(upTo: .seconds(10)) ? (try? ours.receive(limit: 4096)) ?? nil : nil
        child.kill()
        _ = child.reap()
        return String(decoding: told?.bytes ?? [], as: UTF8.self).split(separator: "\n").map { line in
            let parts = line.split(separator: "\t", maxSplits: 1)
            let failure = parts.count > 1 ? parts[1] : nil
            return Finding(
                check: "sandbox, \(parts[0])", isOK: failure == nil, isRequired: false,
                message: failure.map { "Not here (\($0)); renderers run without it\(harm(of: parts[0]))." }
                    ?? "is in place")
        }
    }

    /// Whether libvips may compile its loops.
    private static var loops: Finding {
        Finding(
            check: "compiled loops", isOK: Sandbox.mayCompile, isRequired: false,
            message: Sandbox.mayCompile
                ? "Renderers compile libvips's loops."
                : "This system refuses memory that is both writable and executable. \(Sandbox.uncompiled)")
    }

    /// libvips starts threads while it renders, so no filter can refuse them: only the kernel's limit counts them.
    private static func harm(of layer: Substring) -> String {
        switch Sandbox.Layer(rawValue: String(layer)) {
        case .threads:
            ", and a compromised one can start as many threads as its user may. Allow user namespaces, or limit "
                + "the container's processes"
        case .childNamespace:
            ", and a compromised one can use up the threads of its siblings. Allow nested user namespaces"
        default: ""
        }
    }

    /// Reports a missing part of the sandbox.
    private static func lacking(isFilter: Bool, _ reason: String, _ settings: Settings) -> Finding {
        let isAllowed = isFilter && settings.render.sandbox == "optional"
        let message =
            isFilter
            ? "This kernel accepts no filter for system calls (\(reason)). "
                + (isAllowed
                    ? "Renderers run without it, as render.sandbox allows."
                    : "Allow seccomp for this container, or set render.sandbox to optional.")
            : "A limit of renderers can't be set (\(reason)). Start the worker where it can."
        return Finding(check: "sandbox", isOK: isAllowed, message: message)
    }

    private static func directory(_ name: String, _ path: String) -> Finding {
        let found = Folder.trial(path)
        return Finding(check: "\(name) directory", isOK: found.isOK, message: found.message)
    }

    private static func watermarks(_ path: String) -> Finding {
        let isOK = Folder.isFolder(path) && access(path, R_OK | X_OK) == 0
        return Finding(
            check: "watermarks", isOK: isOK,
            message: isOK ? "\(path) can be read." : "\(path) is not a readable directory. Correct render.watermarks.")
    }

    /// Listens on the address for a moment.
    private static func metrics(_ listen: ListenAddress) -> Finding {
        do throws(WebServerFailure) {
            try WebServer(host: listen.host, port: listen.port) { _ in .notFound }.stop()
            return Finding(check: "metrics", isOK: true, message: "\(listen) can be listened on.")
        } catch {
            return Finding(
                check: "metrics", isOK: false,
                message: "\(error) (A worker that runs already holds it too: metrics.listen.)")
        }
    }

    /// Opens and queries an existing log; a missing embedded one will be created.
    private static func log(_ settings: Settings) async -> [Finding] {
        if let file = settings.embeddedLogFile, access(file, F_OK) != 0 {
            let isOK = directory("data", settings.data).isOK
            let message =
                isOK
                ? "\(file) will be made by the first job or worker." : "\(file) cannot be made: see the data directory."
            return [Finding(check: "log", isOK: isOK, message: message)]
        }
        do {
            let notices = Mutex<[String]>([])
            let log = try await ChosenLog.open(settings, notice: { text in notices.withLock { $0.append(text) } }).log
            let message = ["It responds; it has \(log.partitionCount) partitions."] + notices.withLock { $0 }
            let clock = log.hasOwnClock ? await clock(log) : nil
            await log.close()
            return [Finding(check: "log", isOK: true, message: message.joined(separator: " "))] + [clock].compactMap(\.self)
        } catch {
            return [Finding(check: "log", isOK: false, message: "\(error)")]
        }
    }

    /// Compares clocks by a tombstone that no reader uses: the brokers stamp it.
    private static func clock(_ log: any Log) async -> Finding {
        func finding(_ isOK: Bool, _ message: String) -> Finding { Finding(check: "clock", isOK: isOK, message: message) }
        let written = SystemTime.wall
        let mark = NewRecord(
            topic: .origins, partition: OriginRow.partition, key: Array("doctor @clock".utf8), value: nil)
        guard let offset = await log.append([mark]).first?.offset,
            let record = try? await log.read(.origins, mark.partition, from: offset, limit: 1).first,
            record.offset == offset
        else {
            return finding(
                false, "The brokers' time is not known: a record that was appended to origins cannot be read.")
        }
        var clock = LogClock()
        let (wall, monotonic) = (SystemTime.wall, SystemTime.monotonic)
        clock.note(written: written, appended: record.timestamp, wall: wall, monotonic: monotonic)
        let skew = clock.skew(wall: wall, monotonic: monotonic) ?? .zero
        guard skew.magnitude >= LogClock.tolerance else {
            return finding(true, "It agrees with the brokers' to \(abs(skew.milliseconds)) ms.")
        }
        return finding(
            false,
            "It is \(LogClock.text(skew)): jobs and sources expire that much too \(skew > .zero ? "early" : "late"). Set the clock of this machine (NTP), or the brokers'."
        )
    }
}
