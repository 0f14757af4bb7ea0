internal import Dispatch
internal import Ports
internal import Posix
internal import RenderProtocol
internal import Synchronization

/// The renderers that up to four seats share, and the parent that forks them.
///
/// A thread of its own, the keeper, forks spares while seats render, and waits for the ends of processes that were killed. A change of
/// origin therefore delays no render.
///
/// - Concurrency: asked by the seats' threads; starting a process blocks them.
final class RendererFamily: Sendable {
    private struct State {
        var roster: ChildRoster<RendererChild>
        /// All that run and are not to end, by number.
        var running: [Int32: ChildProcess] = [:]
        /// Killed, but not yet waited for.
        var killed: [RendererChild] = []
        var parent: ChildProcess?
        var peakMemory = 0
        var losses = 0
        var unfiltered: String?
        /// Seats that still run.
        var seats: Int
        var isStopped = false
        var isEnded = false
        var pendingEnds: [CheckedContinuation<Void, Never>] = []
    }
    /// Seats of one family: few enough that one parent forks for all of them, and that few renders are lost with it.
    static let seatLimit = 4
    private let configuration: RendererConfiguration
    private let inspectors: InspectorPool
    private let log: @Sendable (String) -> Void
    private let state: Mutex<State>
    /// Held while a process starts, so that no two threads start one for the same need.
    private let nursery = Mutex<RendererParent?>(nil)
    /// Counts what the keeper should look at.
    private let wakes = DispatchSemaphore(value: 0)

    /// Starts the first spares.
    init(
        _ configuration: RendererConfiguration, seats: Int, _ inspectors: InspectorPool, number: Int,
        log: @escaping @Sendable (String) -> Void
    ) {
        var configuration = configuration
        configuration.seats = seats
        (self.configuration, self.inspectors, self.log) = (configuration, inspectors, log)
        state = Mutex(State(roster: ChildRoster(configuration.isolation, seats: seats), seats: seats))
        OwnThread.start("renderers \(number)") { self.keep() }
        wakes.signal()
    }

    /// All that run, at work or not.
    var processes: [ChildProcess] { state.withLock { Array($0.running.values) } }
    var parent: ChildProcess? { state.withLock { $0.parent } }
    /// Processes that wait for their origin, with it.
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

    /// A process for a render of this origin: its own, a spare, or one that starts now. Every process taken is given back or lost.
    func take(for origin: String?, isFresh: Bool) throws(RenderFailure) -> RendererChild {
        while true {
            if let child = state.withLock({ $0.roster.take(for: origin, isFresh: isFresh) }) {
                // The keeper forks the next spare.
                wakes.signal()
                if !child.isGone { return child }
                end(child)
                continue
            }
            if let child = try start(unless: { !$0.spares.isEmpty }, then: { roster, _ in roster.join() }) {
                return child
            }
        }
    }

    /// Takes a process back after a render that it survived.
    func giveBack(_ child: RendererChild) {
        let memory = child.process.memory
        let now = memory?.now ?? 0
        let isWorn =
            child.renders >= configuration.rendersPerChild
            || now > configuration.recycleBytes && now > 2 * child.firstMemory
        retire { state in
            state.peakMemory = max(state.peakMemory, memory?.peak ?? 0)
            if state.isStopped || isWorn {
                state.roster.leave()
                return [child]
            }
            return state.roster.giveBack(child, origin: child.origin, bytes: memory?.anonymous ?? 0)
        }
    }

    /// Ends a process that crashed, hung or lied; returns how it ended.
    func lose(_ child: RendererChild) -> ChildProcess.End {
        state.withLock { $0.losses += 1 }
        return end(child)
    }

    /// Ends idle processes until they hold no more than this together.
    func shrink(to bytes: Int) { retire { $0.roster.shrink(to: bytes) } }

    /// Returns once a process waits for a render, whatever its origin.
    func ready() throws(RenderFailure) {
        while let child = state.withLock({ $0.roster.ready }) {
            guard child.isGone else { return }
            // Otherwise another seat has it by now.
            guard state.withLock({ $0.roster.remove(child) }) else { return }
            state.withLock { $0.roster.join() }
            end(child)
        }
        _ = try start(unless: { $0.ready != nil }, then: { $0.add(spare: $1) })
    }

    /// Ends the processes, and with them their renders.
    func interrupt() {
        let running = state.withLock { state in
            state.isStopped = true
            return Array(state.running.values)
        }
        for process in running { process.kill() }
        wakes.signal()
    }

    /// Called by each seat as it ends.
    func leave() {
        state.withLock { $0.seats -= 1 }
        wakes.signal()
    }

    /// Returns when every process is gone for good.
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
            wakes.wait()
            while state.withLock({ !$0.isStopped && $0.roster.missingSpares > 0 }) {
                // The render that needs one reports the failure.
                guard (try? start(unless: { $0.missingSpares == 0 }, then: { $0.add(spare: $1) })) != nil else { break }
            }
            for child in state.withLock({ exchange(&$0.killed, with: []) }) { reap(child) }
            if state.withLock({ $0.isStopped && $0.seats == 0 }) { return close() }
        }
    }

    private func close() {
        retire { $0.roster.removeAll() }
        for child in state.withLock({ exchange(&$0.killed, with: []) }) { reap(child) }
        nursery.withLock { dismiss(&$0) }
        let pendingEnds = state.withLock { state in
            state.isEnded = true
            return exchange(&state.pendingEnds, with: [])
        }
        for pending in pendingEnds { pending.resume() }
    }

    /// Starts a process and registers it, one at a time; nil if another thread met the need meanwhile.
    private func start(
        unless isMet: @Sendable (ChildRoster<RendererChild>) -> Bool,
        then register: @Sendable (inout ChildRoster<RendererChild>, RendererChild) -> Void
    ) throws(RenderFailure) -> RendererChild? {
        let result = nursery.withLock { parent -> Result<RendererChild?, RenderFailure> in
            let (isEnough, isStopped) = state.withLock { (isMet($0.roster), $0.isStopped) }
            if isStopped { return .failure(.unavailable(reason: "the worker is stopping")) }
            if isEnough { return .success(nil) }
            let child: RendererChild
            do throws(RenderFailure) { child = try start(&parent) } catch { return .failure(error) }
            let isKept = state.withLock { state in
                if state.isStopped { return false }
                state.running[child.process.pid] = child.process
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

    /// Forked from the parent, or from a fresh parent if that one has died.
    private func start(_ parent: inout RendererParent?) throws(RenderFailure) -> RendererChild {
        if configuration.isolation == .none { return try RendererChild(configuration, of: nil, inspectors) }
        if let current = parent {
            if let child = try? RendererChild(configuration, of: current, inspectors) { return child }
            dismiss(&parent)
        }
        let fresh = try RendererParent(configuration)
        parent = fresh
        state.withLock { $0.parent = fresh.warm.process }
        return try RendererChild(configuration, of: fresh, inspectors)
    }

    private func dismiss(_ parent: inout RendererParent?) {
        guard let current = parent else { return }
        state.withLock { $0.parent = nil }
        parent = nil
        current.warm.end()
    }

    /// Ends processes that nobody uses; the keeper waits for their ends.
    private func retire(_ choose: (inout State) -> [RendererChild]) {
        let children = state.withLock { state in
            let children = choose(&state)
            // Its number may be another's once it is reaped.
            for child in children { state.running[child.process.pid] = nil }
            return children
        }
        guard !children.isEmpty else { return }
        for child in children { child.process.kill() }
        state.withLock { $0.killed += children }
        wakes.signal()
    }

    /// Ends a process that was taken.
    @discardableResult
    private func end(_ child: RendererChild) -> ChildProcess.End {
        let peak = child.process.memory?.peak ?? 0
        state.withLock { state in
            state.peakMemory = max(state.peakMemory, peak)
            state.running[child.process.pid] = nil
            state.roster.leave()
        }
        defer { wakes.signal() }
        return reap(child)
    }

    @discardableResult
    private func reap(_ child: RendererChild) -> ChildProcess.End {
        let end = child.end()
        for line in child.takeLines() { log(line) }
        return end
    }
}
