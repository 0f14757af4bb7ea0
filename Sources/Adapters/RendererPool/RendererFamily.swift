internal import Clocks
internal import Dispatch
internal import Images
internal import Posix
internal import RenderProtocol
internal import Synchronization

/// The renderer processes that up to four slots share, and the parent that forks them.
///
/// A thread of its own, the keeper, forks spares while slots render, and reaps killed processes. So a change of origin
/// delays no render.
///
/// - Concurrency: called by the slots' threads; starting a process blocks them.
final class RendererFamily: Sendable {
    private struct State {
        var roster: ChildRoster<RendererChild>
        /// All running processes that are not ending.
        var running: [ObjectIdentifier: ChildProcess] = [:]
        /// Processes that were killed, but not yet reaped.
        var killed: [RendererChild] = []
        var parent: ChildProcess?
        /// Processes of this parent that crashed.
        var crashes = 0
        /// Number of failed starts, and the last failure.
        var failures: (count: Int, last: RenderFailure?) = (0, nil)
        var peakMemory = 0
        var losses = 0
        var unfiltered: String?
        /// Seats that still run.
        var slots: Int
        var isStopped = false
        var isEnded = false
        var pendingEnds: [CheckedContinuation<Void, Never>] = []
    }
    /// Most slots of one family: few enough that one parent forks for all of them, and that few renders are lost with
    /// it.
    static let slotLimit = 4
    /// Crashes after which a fresh parent replaces this one. All processes of a parent share its address layout, and
    /// each crash may reveal some of it.
    private static let crashLimit = 8
    private let configuration: RendererConfiguration
    private let inspectors: InspectorPool
    private let log: @Sendable (String) -> Void
    private let state: Mutex<State>
    /// Held while a process starts, so that no two threads start one for the same need.
    private let nursery = Mutex<RendererParent?>(nil)
    /// Counts events that the keeper should handle.
    private let wakes = DispatchSemaphore(value: 0)

    /// Starts the first spares.
    init(
        _ configuration: RendererConfiguration, slots: Int, _ inspectors: InspectorPool, number: Int,
        log: @escaping @Sendable (String) -> Void
    ) {
        var configuration = configuration
        configuration.slots = slots
        (self.configuration, self.inspectors, self.log) = (configuration, inspectors, log)
        state = Mutex(State(roster: ChildRoster(configuration.isolation, slots: slots), slots: slots))
        OwnThread.start("renderers \(number)") { self.keep() }
        wakes.signal()
    }

    /// All running processes, rendering or not.
    var processes: [ChildProcess] { state.withLock { Array($0.running.values) } }
    var parent: ChildProcess? { state.withLock { $0.parent } }
    /// Idle processes, with their origin.
    var idle: [(pid: Int32, origin: String)] {
        state.withLock { $0.roster.idle.map { ($0.child.process.pid, $0.origin) } }
    }
    var peakMemory: Int {
        state.withLock { state in
            state.running.values.reduce(state.peakMemory) { max($0, $1.memory?.peak ?? 0) }
        }
    }
    var losses: Int { state.withLock { $0.losses } }
    var unfiltered: String? { state.withLock { $0.unfiltered } }

    /// Takes a process for a render of this origin: its idle process, a spare, or a new one. The caller gives it back
    /// or loses it.
    func take(for origin: String?, isFresh: Bool) throws(RenderFailure) -> RendererChild {
        if !isFresh { state.withLock { $0.roster.note(origin) } }
        while true {
            if let child = state.withLock({ $0.roster.take(for: origin, isFresh: isFresh) }) {
                // The keeper then forks the next spare.
                wakes.signal()
                if !child.isGone { return child }
                end(child)
                continue
            }
            if let child = try start(unless: { $0.ready != nil }, then: { roster, _ in roster.join() }) {
                return child
            }
        }
    }

    /// Takes a process back after a render that it survived.
    func giveBack(_ child: RendererChild) {
        let memory = child.process.memory
        let isWorn =
            child.renders >= configuration.rendersPerChild
            || memory.map { $0.now > configuration.recycleBytes } ?? false
        retire { state in
            state.peakMemory = max(state.peakMemory, memory?.peak ?? 0)
            if state.isStopped || isWorn || child.parent != state.parent?.pid {
                state.roster.leave()
                return [child]
            }
            return state.roster.giveBack(child, origin: child.origin)
        }
    }

    /// Ends a process that crashed, hung or lied; returns how it ended.
    func lose(_ child: RendererChild) -> ChildProcess.End {
        state.withLock { $0.losses += 1 }
        return end(child)
    }

    /// Ends idle processes until the others hold at most this many bytes. It measures them each time, because an image
    /// may have taken one over.
    func shrink(to bytes: Int) { retire { $0.roster.shrink(to: bytes) { $0.privateMemory.bytes } } }

    /// Returns once a process is available for a render of any origin.
    func ready() throws(RenderFailure) {
        while let child = state.withLock({ $0.roster.ready }) {
            guard child.isGone else { return }
            // Otherwise another slot has taken it.
            guard state.withLock({ $0.roster.remove(child) }) else { return }
            state.withLock { $0.roster.join() }
            end(child)
        }
        _ = try start(unless: { $0.ready != nil }, then: { $0.add(spare: $1) })
    }

    /// Kills the processes, and with them their renders.
    func interrupt() {
        state.withLock { state in
            state.isStopped = true
            // None of them has been reaped, so no other process has their process ids.
            for process in state.running.values { process.kill() }
        }
        wakes.signal()
    }

    /// Called by each slot as it ends.
    func leave() {
        state.withLock { $0.slots -= 1 }
        wakes.signal()
    }

    /// Returns when every process has ended and was reaped.
    func ended() async {
        await withCheckedContinuation { pending in
            let isEnded = state.withLock { state in
                if !state.isEnded { state.pendingEnds.append(pending) }
                return state.isEnded
            }
            if isEnded { pending.resume() }
        }
    }

    private func keep() {
        while true {
            if wakes.wait(timeout: .now() + .milliseconds(Int(configuration.quietTime.milliseconds))) == .timedOut {
                retire { $0.roster.removeIdle() }
            }
            replaceParent()
            while true {
                // The render that needs a process reports the failure.
                let isStarted =
                    state.withLock { !$0.isStopped && $0.roster.missingSpares > 0 }
                    && (try? start(isSpare: true, unless: { $0.missingSpares == 0 }, then: { $0.add(spare: $1) }))
                        != nil
                reapKilled()
                guard isStarted else { break }
            }
            if state.withLock({ $0.isStopped && $0.slots == 0 }) { return close() }
        }
    }

    /// Replaces the parent after too many crashes. Renders continue meanwhile with processes of the old parent.
    private func replaceParent() {
        guard state.withLock({ !$0.isStopped && $0.crashes >= Self.crashLimit }) else { return }
        guard let fresh = try? RendererParent(configuration) else { return state.withLock { $0.crashes = 0 } }
        log("\(Self.crashLimit) of its children crashed, so its parent was replaced")
        nursery.withLock { parent in
            dismiss(&parent)
            adopt(fresh, as: &parent)
        }
    }

    private func close() {
        retire { $0.roster.removeAll() }
        reapKilled()
        nursery.withLock { parent in
            // It ends now, rather than when its last reference is released.
            parent?.end()
            dismiss(&parent)
        }
        let pendingEnds = state.withLock { state in
            state.isEnded = true
            return exchange(&state.pendingEnds, with: [])
        }
        for pending in pendingEnds { pending.resume() }
    }

    /// Starts a process and registers it, one at a time; nil if another thread met the need meanwhile.
    ///
    /// - Failure: may stem from a start that another thread made while this one waited.
    private func start(
        isSpare: Bool = false,
        unless isMet: @Sendable (ChildRoster<RendererChild>) -> Bool,
        then register: @Sendable (inout ChildRoster<RendererChild>, RendererChild) -> Void
    ) throws(RenderFailure) -> RendererChild? {
        let before = state.withLock { $0.failures.count }
        let result = nursery.withLock { parent -> Result<RendererChild?, RenderFailure> in
            let (isEnough, isStopped, failures) = state.withLock { (isMet($0.roster), $0.isStopped, $0.failures) }
            if isStopped { return .failure(.unavailable(reason: "the worker is stopping")) }
            if isEnough { return .success(nil) }
            if failures.count > before, let last = failures.last { return .failure(last) }
            let child: RendererChild
            do throws(RenderFailure) { child = try start(&parent, isSpare) } catch {
                // A spare may fail because the machine has too few processes, which is no failure of the family.
                if !isSpare || parent == nil { state.withLock { $0.failures = ($0.failures.count + 1, error) } }
                return .failure(error)
            }
            let isKept = state.withLock { state in
                if state.isStopped { return false }
                state.running[ObjectIdentifier(child)] = child.process
                state.unfiltered = child.unfiltered
                register(&state.roster, child)
                return true
            }
            if isKept { return .success(child) }
            _ = child.end()
            return .failure(.unavailable(reason: "the worker is stopping"))
        }
        return try result.get()
    }

    /// Forks a process from the parent, or from a fresh parent if the old one is useless.
    private func start(_ parent: inout RendererParent?, _ isSpare: Bool) throws(RenderFailure) -> RendererChild {
        var isRelieved = isSpare
        while let current = parent {
            do throws(RendererParent.Failure) { return try RendererChild(of: current, inspectors) } catch {
                guard case .exhausted(let reason) = error else {
                    // Its rendering processes continue, if they live.
                    dismiss(&parent)
                    break
                }
                // Waiting processes hold the resources that this one needs.
                if !isRelieved, endWaiting() {
                    isRelieved = true
                    continue
                }
                if isSpare || state.withLock({ $0.roster.busy > 0 }) {
                    throw .unavailable(reason: "the renderers' parent makes no child (\(reason))")
                }
                dismiss(&parent)
            }
        }
        let fresh = try RendererParent(configuration)
        adopt(fresh, as: &parent)
        do throws(RendererParent.Failure) { return try RendererChild(of: fresh, inspectors) } catch {
            throw .unavailable(reason: "the renderers' parent makes no child (\(error))")
        }
    }

    private func adopt(_ fresh: RendererParent, as parent: inout RendererParent?) {
        parent = fresh
        state.withLock { ($0.parent, $0.crashes) = (fresh.warm.process, 0) }
    }

    /// Dismisses a parent and its waiting processes. It ends once none of its processes renders.
    private func dismiss(_ parent: inout RendererParent?) {
        state.withLock { $0.parent = nil }
        endWaiting()
        parent = nil
    }

    /// Ends all processes without a render, and reaps them; false if there were none.
    @discardableResult
    private func endWaiting() -> Bool {
        retire { $0.roster.removeAll() }
        return reapKilled()
    }

    @discardableResult
    private func reapKilled() -> Bool {
        let killed = state.withLock { exchange(&$0.killed, with: []) }
        for child in killed { reap(child) }
        return !killed.isEmpty
    }

    /// Ends unused processes; the keeper reaps them.
    private func retire(_ choose: (inout State) -> [RendererChild]) {
        let children = state.withLock { state in
            let children = choose(&state)
            // Another process may have its process id once it is reaped.
            for child in children {
                state.running[ObjectIdentifier(child)] = nil
                child.process.kill()
            }
            state.killed += children
            return children
        }
        if !children.isEmpty { wakes.signal() }
    }

    /// Ends a process that a slot has taken.
    @discardableResult
    private func end(_ child: RendererChild) -> ChildProcess.End {
        let peak = child.process.memory?.peak ?? 0
        state.withLock { state in
            state.peakMemory = max(state.peakMemory, peak)
            state.running[ObjectIdentifier(child)] = nil
            state.roster.leave()
        }
        defer { wakes.signal() }
        return reap(child)
    }

    @discardableResult
    private func reap(_ child: RendererChild) -> ChildProcess.End {
        let end = child.end()
        for line in child.takeLines() { log(line) }
        if end != .killed { state.withLock { if child.parent == $0.parent?.pid { $0.crashes += 1 } } }
        return end
    }
}
