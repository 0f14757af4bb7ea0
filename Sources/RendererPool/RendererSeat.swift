internal import Ports
internal import Posix
internal import RenderProtocol
internal import Synchronization

/// One place of the pool, with the child that sits on it now, and what that was forked from.
///
/// - Concurrency: `run` has a thread of its own; the rest may be asked from any.
final class RendererSeat: Sendable {
    private struct State {
        var process: ChildProcess?
        var parent: ChildProcess?
        var peakMemory = 0
        var losses = 0
        var unfiltered: String?
        var isEnded = false
        var pendingJobs: [CheckedContinuation<Void, Never>] = []
    }
    /// What the seat's thread alone has.
    private struct Occupant {
        var child: RendererChild?
        var parent: RendererParent?
    }
    private let configuration: RendererConfiguration
    private let queue: RenderQueue
    private let budget: RenderBudget
    private let inspectors: InspectorPool
    private let log: @Sendable (String) -> Void
    private let state = Mutex(State())

    init(
        _ configuration: RendererConfiguration, _ queue: RenderQueue, _ budget: RenderBudget,
        _ inspectors: InspectorPool,
        log: @escaping @Sendable (String) -> Void
    ) {
        (self.configuration, self.queue, self.budget) = (configuration, queue, budget)
        (self.inspectors, self.log) = (inspectors, log)
    }

    var process: ChildProcess? { state.withLock { $0.process } }
    var parent: ChildProcess? { state.withLock { $0.parent } }
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
        var occupant = Occupant()
        // A failure to start is told to the first render, which tries again.
        occupant.child = try? start(&occupant)
        while let entry = queue.next() {
            if entry.pending.isAnswered { continue }
            let answer = perform(entry.render, &occupant)
            entry.pending.answer(answer)
            retire(&occupant)
            // The next picture finds one that is warm.
            if occupant.child == nil, !answer.isUnavailable, !queue.hasStopped {
                occupant.child = try? start(&occupant)
            }
        }
        leave(&occupant)
        dismiss(&occupant)
        let pendingJobs = state.withLock { state in
            state.isEnded = true
            defer { state.pendingJobs = [] }
            return state.pendingJobs
        }
        for pending in pendingJobs { pending.resume() }
    }

    /// A child that has worked may hold in pieces what it freed; a fresh one has all that there is, and its word counts. Whether a
    /// library aborts over this picture, or over what one before it left, only a second child tells.
    private func perform(_ render: PendingRender?, _ occupant: inout Occupant) -> RenderQueue.Answer {
        if occupant.child?.isOthers(than: render, configuration.isolation) == true { leave(&occupant) }
        let isFresh = occupant.child.map { $0.renders == 0 } ?? true
        let answer = attempt(render, &occupant)
        switch answer {
        case .failure(.outOfMemory) where !isFresh, .failure(.aborted): return attempt(render, &occupant)
        default: return answer
        }
    }

    private func attempt(_ render: PendingRender?, _ occupant: inout Occupant) -> RenderQueue.Answer {
        do throws(RenderFailure) {
            if let current = occupant.child, current.isGone { leave(&occupant) }
            let current = if let child = occupant.child { child } else { try start(&occupant) }
            occupant.child = current
            guard let render else { return .success([]) }
            let memory = render.request.memoryEstimate
            budget.take(memory)
            defer { budget.giveBack(memory) }
            do throws(RendererChild.Loss) {
                return try current.render(render)
            } catch {
                state.withLock { $0.losses += 1 }
                let end = leave(&occupant)
                switch error {
                case .deadline: throw .deadline(milliseconds: configuration.deadlineMilliseconds)
                case .died where end == .status(Int(RenderReply.memoryStatus)):
                    throw .outOfMemory(nil, reason: "it ended for want of it")
                case .died where end == .aborted: throw .aborted(render.picture.facts.format)
                case .died: throw .crashed(reason: end?.description ?? "it was gone")
                case .misspoke(let what): throw .crashed(reason: what)
                case .memory(let spec, let reason): throw .outOfMemory(spec, reason: reason)
                // What makes inspectors die is not the source's header: that was read.
                case .uninspected(.uninspected(let reason)): throw .crashed(reason: "its pictures: \(reason)")
                case .uninspected(let failure): throw failure
                }
            }
        } catch {
            return .failure(error)
        }
    }

    private func start(_ occupant: inout Occupant) throws(RenderFailure) -> RendererChild {
        let child: RendererChild
        if configuration.isolation == .none {
            child = try RendererChild(configuration, of: nil, inspectors)
        } else {
            child = try fork(&occupant)
        }
        state.withLock { ($0.process, $0.unfiltered) = (child.process, child.unfiltered) }
        return child
    }

    /// From the parent that there is, or from a fresh one, should that have died.
    private func fork(_ occupant: inout Occupant) throws(RenderFailure) -> RendererChild {
        if let parent = occupant.parent {
            if let child = try? RendererChild(configuration, of: parent, inspectors) { return child }
            dismiss(&occupant)
        }
        let parent = try RendererParent(configuration)
        occupant.parent = parent
        state.withLock { $0.parent = parent.warm.process }
        return try RendererChild(configuration, of: parent, inspectors)
    }

    /// Lets a child go that has worked long enough or holds too much.
    private func retire(_ occupant: inout Occupant) {
        guard let current = occupant.child, current.renders > 0 else { return }
        if current.renders >= configuration.rendersPerChild {
            leave(&occupant)
            return
        }
        let memory = current.process.memory
        state.withLock { $0.peakMemory = max($0.peakMemory, memory?.peak ?? 0) }
        let now = memory?.now ?? 0
        if now > configuration.recycleBytes && now > 2 * current.firstMemory { leave(&occupant) }
    }

    /// Ends the child and takes note of its memory; how it ended.
    @discardableResult
    private func leave(_ occupant: inout Occupant) -> ChildProcess.End? {
        guard let current = occupant.child else { return nil }
        let peak = current.process.memory?.peak ?? 0
        // Its number may be another's once it is reaped.
        state.withLock { state in
            state.peakMemory = max(state.peakMemory, peak)
            state.process = nil
        }
        occupant.child = nil
        let end = current.end()
        for line in current.takeLines() { log(line) }
        return end
    }

    private func dismiss(_ occupant: inout Occupant) {
        guard let parent = occupant.parent else { return }
        state.withLock { $0.parent = nil }
        occupant.parent = nil
        parent.warm.end()
    }
}

extension RendererChild {
    /// Whether it has seen pictures that must not meet this one.
    fileprivate func isOthers(than render: PendingRender?, _ isolation: RenderIsolation) -> Bool {
        guard let render, renders > 0 else { return false }
        switch isolation {
        case .none: return false
        case .origin: return origin == nil || origin != render.origin
        case .picture: return true
        }
    }
}

extension RenderQueue.Answer {
    fileprivate var isUnavailable: Bool { if case .failure(.unavailable) = self { true } else { false } }
}
