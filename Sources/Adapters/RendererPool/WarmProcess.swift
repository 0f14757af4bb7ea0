internal import Images
internal import Posix
internal import RenderProtocol

/// A started process of ours, with a socket and a pipe for its log, that has reported that it is ready.
struct WarmProcess: Sendable {
    let process: ChildProcess
    let socket: PacketSocket
    let log: LogPipe
    /// Why it runs without a filter for system calls; nil: it has one.
    let unfiltered: String?

    /// Starts the program and waits until it is warm.
    init(_ program: String, _ arguments: [String], _ configuration: RendererConfiguration) throws(RenderFailure) {
        do throws(SystemFailure) {
            let (ours, theirs) = try PacketSocket.pair()
            (socket, log) = (ours, try LogPipe())
            process = try ChildProcess(
                program: program, arguments: arguments, environment: Self.environment, socket: theirs, log: log)
        } catch {
            throw .unavailable(reason: "\(error). \(Self.advice)")
        }
        let isSpoken = socket.waits(upTo: configuration.startLimit)
        let first = isSpoken ? (try? socket.receive(limit: Wire.messageLimit)) ?? nil : nil
        let told: String
        switch first.flatMap({ RenderReply(message: $0.bytes) }) {
        case .ready:
            unfiltered = nil
            return
        case .readyUnfiltered(let reason) where configuration.isSandboxOptional:
            unfiltered = reason
            return
        case .readyUnfiltered(let reason):
            told =
                "the kernel offers no filter for system calls (\(reason)). Allow seccomp for this container, or set "
                + "render.sandbox to optional"
        default:
            told = first != nil ? "it speaks another version. \(Self.advice)" : ""
        }
        if first != nil || !isSpoken { process.kill() }
        let end = process.reap()
        let said = log.takeLines().last.map { ": " + ChildText.line($0) } ?? ""
        let ending = isSpoken ? "it ended with \(end)\(said)" : "it did not get ready"
        throw .unavailable(
            reason: "\(program) is not a working renderer: \(told.isEmpty ? "\(ending). \(Self.advice)" : told)")
    }

    /// Ends it at once, since an idle process has nothing to save; returns how it ended, if it had ended before.
    @discardableResult
    func end() -> ChildProcess.End {
        process.kill()
        return process.reap()
    }

    /// libimagequant is fastest here with one thread, and libgomp ends the process if it gets no stack for another one.
    /// LD_BIND_NOW looks up library functions at the start; otherwise each forked process would do it again, and copy
    /// their pages.
    private static let environment = ["OMP_NUM_THREADS=1", "LD_BIND_NOW=1"]

    private static let advice = "Build mezzotint-renderer and mezzotint-inspector, or set render.program"
}
