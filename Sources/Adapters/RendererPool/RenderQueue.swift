internal import Dispatch
internal import Images
internal import Ports
internal import Synchronization

/// Queue of renders that wait for a process.
final class RenderQueue: Sendable {
    typealias Answer = Result<[RenderedVariant], RenderFailure>

    /// A render and its waiting caller. An entry without a render only checks whether a process is available.
    struct Entry: Sendable {
        let render: PendingRender?
        let pending: PendingJob
    }

    private struct State {
        var entries: [Entry] = []
        var first = 0
        var isStopped = false
    }
    private let state = Mutex(State())
    /// Counts entries, and lets every slot through once the queue is stopped.
    private let arrivals = DispatchSemaphore(value: 0)
    private static let stopped = RenderFailure.unavailable(reason: "the worker is stopping")

    /// Queues a render and waits for its result. A cancelled task gets its result at once; a process that already
    /// renders continues.
    func perform(_ render: PendingRender?) async -> Answer {
        let pending = PendingJob()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                pending.wait(continuation)
                let isTaken = state.withLock { state in
                    if !state.isStopped { state.entries.append(Entry(render: render, pending: pending)) }
                    return !state.isStopped
                }
                if isTaken { arrivals.signal() } else { pending.answer(.failure(Self.stopped)) }
            }
        } onCancel: {
            pending.answer(.failure(Self.stopped))
        }
    }

    /// Blocks until there is a render to do; nil when the queue is stopped.
    func next() -> Entry? {
        arrivals.wait()
        let entry = state.withLock { state -> Entry? in
            guard state.first < state.entries.count else { return nil }
            defer {
                state.first += 1
                if state.first == state.entries.count { (state.entries, state.first) = ([], 0) }
            }
            return state.entries[state.first]
        }
        if entry == nil { arrivals.signal() }
        return entry
    }

    func stop() {
        let left = state.withLock { state in
            defer { (state.entries, state.first, state.isStopped) = ([], 0, true) }
            return Array(state.entries[state.first...])
        }
        for entry in left { entry.pending.answer(.failure(Self.stopped)) }
        arrivals.signal()
    }
}
