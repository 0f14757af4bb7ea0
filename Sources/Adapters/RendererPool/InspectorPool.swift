internal import Clocks
internal import Dispatch
internal import Images
internal import Posix
internal import RenderProtocol
internal import Synchronization

/// Inspector processes: as many as inspections at once, and a spare, so that after a picture kills its inspector the
/// next picture does not wait.
///
/// - Concurrency: `inspect` blocks its caller's thread.
final class InspectorPool: Sendable {
    private struct State {
        var idle: [InspectorChild] = []
        /// All running inspectors, by process id.
        var running: [Int32: ChildProcess] = [:]
        var losses = 0
        var isStopped = false
    }
    private let configuration: RendererConfiguration
    private let log: @Sendable (String) -> Void
    private let state = Mutex(State())
    private let permits: DispatchSemaphore

    /// Starts the inspectors; `inspect` waits for the first one.
    init(_ configuration: RendererConfiguration, log: @escaping @Sendable (String) -> Void) {
        (self.configuration, self.log) = (configuration, log)
        permits = DispatchSemaphore(value: configuration.inspectors)
        for _ in 0...configuration.inspectors { addLater() }
    }

    /// The running inspectors.
    var processes: [ChildProcess] { state.withLock { Array($0.running.values) } }
    /// Number of inspectors that a picture ended.
    var losses: Int { state.withLock { $0.losses } }

    /// Inspects each part of a file; returns its facts or the reason why it is refused.
    ///
    /// If an inspector ends, or takes too long, a fresh one inspects the picture again, because the machine may have
    /// ended the first.
    /// - Failure: `uninspected` if both were lost, `unavailable` if no inspector can be started.
    func inspect(
        _ file: OpenFile, _ request: InspectionRequest
    ) throws(RenderFailure) -> [Result<InspectedPicture, RenderFailure>] {
        permits.wait()
        defer { permits.signal() }
        var reason = ""
        for isFirst in [true, false] {
            let child = isFirst ? try take() : try start()
            do throws(InspectorChild.Loss) {
                let results = try child.inspect(file, request)
                giveBack(child)
                return results
            } catch {
                state.withLock { $0.losses += 1 }
                let end = replace(child)
                reason =
                    switch error {
                    case .deadline: "it took longer than \(configuration.inspectionLimit.milliseconds) ms"
                    case .died: "the inspector ended with \(end)"
                    case .misspoke: "the inspector replied out of protocol"
                    }
            }
        }
        throw .uninspected(reason: reason)
    }

    /// Returns once an inspector is available.
    func ready() throws(RenderFailure) { giveBack(try take()) }

    func stop() {
        let (idle, running) = state.withLock { state in
            defer { (state.idle, state.isStopped) = ([], true) }
            return (state.idle, Array(state.running.values))
        }
        // The threads that use busy inspectors reap them.
        for process in running { process.kill() }
        for child in idle { _ = end(child) }
    }

    private func take() throws(RenderFailure) -> InspectorChild {
        while let child = state.withLock({ $0.idle.popLast() }) {
            if !child.isGone { return child }
            _ = replace(child)
        }
        return try start()
    }

    private func start() throws(RenderFailure) -> InspectorChild {
        let stopped = RenderFailure.unavailable(reason: "the worker is stopping")
        if state.withLock({ $0.isStopped }) { throw stopped }
        let child = try InspectorChild(configuration)
        let isStopped = state.withLock { state in
            if !state.isStopped { state.running[child.warm.process.pid] = child.warm.process }
            return state.isStopped
        }
        if isStopped {
            child.warm.end()
            throw stopped
        }
        return child
    }

    private func giveBack(_ child: InspectorChild) {
        let isKept = state.withLock { state in
            // Pictures that arrived before the first inspectors were ready have started additional ones.
            let isKept = !state.isStopped && state.running.count <= configuration.inspectors + 1
            if isKept { state.idle.append(child) }
            return isKept
        }
        if !isKept { _ = end(child) }
    }

    /// Ends an inspector and starts another in its place, without waiting for it.
    private func replace(_ child: InspectorChild) -> ChildProcess.End {
        defer { if !state.withLock({ $0.isStopped }) { addLater() } }
        return end(child)
    }

    private func end(_ child: InspectorChild) -> ChildProcess.End {
        state.withLock { $0.running[child.warm.process.pid] = nil }
        let end = child.warm.end()
        for line in child.warm.log.takeLines() { log("inspector: \(ChildText.line(line))") }
        return end
    }

    /// Starts an inspector in the background. If that fails, the next inspection retries and reports the failure.
    private func addLater() {
        OwnThread.start("inspector") { [weak self] in
            if let self, let child = try? start() { giveBack(child) }
        }
    }
}
