internal import Ports
internal import Posix
internal import RenderProtocol
internal import Synchronization

/// One place of the pool, with the child that sits on it now.
///
/// - Concurrency: `run` has a thread of its own; the rest may be asked from any.
final class RendererSeat: Sendable {
    private struct State {
        var process: ChildProcess?
        var peakMemory = 0
        var losses = 0
        var unfiltered: String?
        var isEnded = false
        var pendingJobs: [CheckedContinuation<Void, Never>] = []
    }
    private let configuration: RendererConfiguration
    private let queue: RenderQueue
    private let budget: RenderBudget
    private let state = Mutex(State())

    init(_ configuration: RendererConfiguration, _ queue: RenderQueue, _ budget: RenderBudget) {
        (self.configuration, self.queue, self.budget) = (configuration, queue, budget)
    }

    var process: ChildProcess? { state.withLock { $0.process } }
    var peakMemory: Int { state.withLock { max($0.peakMemory, $0.process?.memory?.peak ?? 0) } }

    var losses: Int { state.withLock { $0.losses } }
    var unfiltered: String? { state.withLock { $0.unfiltered } }

    /// Ends the child, and with it the render that it has.
    func interrupt() { state.withLock { $0.process?.kill() } }

    /// Returns when the seat's child is gone for good.
    func ended() async {
        await withCheckedContinuation { pending in
            let isEnded = state.withLock { state in
                if !state.isEnded { state.pendingJobs.append(pending) }
                return state.isEnded
            }
            if isEnded { pending.resume() }
        }
    }

    func run() {
        // A failure to start is told to the first render, which tries again.
        var child = try? start()
        while let entry = queue.next() {
            if entry.pending.isAnswered { continue }
            let answer = perform(entry.render, &child)
            entry.pending.answer(answer)
            retire(&child)
            if child == nil, !answer.isUnavailable, !queue.hasStopped { child = try? start() }
        }
        leave(&child)
        let pendingJobs = state.withLock { state in
            state.isEnded = true
            defer { state.pendingJobs = [] }
            return state.pendingJobs
        }
        for pending in pendingJobs { pending.resume() }
    }

    /// A child that has worked may hold in pieces what it freed; a fresh one has all that there is, and its word counts.
    private func perform(_ render: PendingRender?, _ child: inout RendererChild?) -> RenderQueue.Answer {
        let isFresh = child.map { $0.renders == 0 } ?? true
        let answer = attempt(render, &child)
        if !isFresh, case .failure(.outOfMemory) = answer { return attempt(render, &child) }
        return answer
    }

    private func attempt(_ render: PendingRender?, _ child: inout RendererChild?) -> RenderQueue.Answer {
        do throws(RenderFailure) {
            if let current = child, current.isGone { leave(&child) }
            let current = if let child { child } else { try start() }
            child = current
            guard let render else { return .success([]) }
            let memory = render.request.memoryEstimate
            budget.take(memory)
            defer { budget.giveBack(memory) }
            do throws(RendererChild.Loss) {
                return try current.render(render)
            } catch {
                state.withLock { $0.losses += 1 }
                let end = leave(&child)
                switch error {
                case .deadline: throw .deadline(milliseconds: configuration.deadlineMilliseconds)
                case .died where end == .status(Int(RenderReply.memoryStatus)):
                    throw .outOfMemory(nil, reason: "it ended for want of it")
                case .died: throw .crashed(reason: end?.description ?? "it was gone")
                case .misspoke(let what): throw .crashed(reason: what)
                case .memory(let spec, let reason): throw .outOfMemory(spec, reason: reason)
                }
            }
        } catch {
            return .failure(error)
        }
    }

    private func start() throws(RenderFailure) -> RendererChild {
        let child = try RendererChild(configuration)
        state.withLock { ($0.process, $0.unfiltered) = (child.process, child.unfiltered) }
        return child
    }

    /// Lets a child go that has worked long enough or holds too much.
    private func retire(_ child: inout RendererChild?) {
        guard let current = child else { return }
        let memory = current.process.memory
        state.withLock { $0.peakMemory = max($0.peakMemory, memory?.peak ?? 0) }
        let now = memory?.now ?? 0
        let isHeavy = now > configuration.recycleBytes && now > 2 * current.firstMemory
        if isHeavy || current.renders >= configuration.recycleRenders { leave(&child) }
    }

    /// Ends the child and takes note of its memory; how it ended.
    @discardableResult
    private func leave(_ child: inout RendererChild?) -> ChildProcess.End? {
        guard let current = child else { return nil }
        let peak = current.process.memory?.peak ?? 0
        // Its number may be another's once it is reaped.
        state.withLock { state in
            state.peakMemory = max(state.peakMemory, peak)
            state.process = nil
        }
        child = nil
        return current.end()
    }
}

extension RenderQueue.Answer {
    fileprivate var isUnavailable: Bool { if case .failure(.unavailable) = self { true } else { false } }
}
