internal import Dispatch
package import ImageModel
package import Ports
package import Posix
internal import Synchronization

/// Renderer children, one render each at a time; the seat of one that died is taken by a fresh one.
///
/// - Concurrency: each child has a thread of ours, which blocks on its socket; renders wait in the order they came.
/// - Failure: a child that crashes or passes the deadline costs the render that it had, and nothing else.
package final class RendererPool: Renderer {
    package let configuration: RendererConfiguration
    private let inspector: PictureInspector
    private let queue = RenderQueue()
    private let seats: [RendererSeat]

    /// Starts the children; `ready()` says whether that went well.
    package init(_ configuration: RendererConfiguration) {
        self.configuration = configuration
        inspector = PictureInspector(limits: configuration.limits)
        let budget = RenderBudget(ceiling: configuration.memoryBytes)
        seats = (0..<configuration.count).map { [queue] _ in RendererSeat(configuration, queue, budget) }
        for (number, seat) in seats.enumerated() { OwnThread.start("renderer \(number)") { seat.run() } }
    }

    /// Returns when a child has been warmed.
    ///
    /// - Failure: `unavailable`, with the program's path.
    package func ready() async throws(RenderFailure) { _ = try await queue.perform(nil).get() }

    package func inspect(_ file: OpenFile) throws(RenderFailure) -> Picture { try inspector.inspect(file) }

    /// Why an order can't be carried out, whatever the picture; nil if it can.
    package func refusal(of order: RenderOrder) -> RenderFailure? {
        let sideLimit: Int
        switch order.spec.format {
        case .jpeg: sideLimit = 65_500
        case .png: sideLimit = 65_535
        case .webp: sideLimit = 16_383
        default: return .output(order.spec, reason: "\(order.spec.format.rawValue) is not written yet")
        }
        let size = order.output
        if size.width < 1 || size.height < 1 || order.cut.width <= 0 || order.cut.height <= 0 {
            return .output(order.spec, reason: "it would show nothing")
        }
        if max(size.width, size.height) > sideLimit {
            return .output(order.spec, reason: "\(size) is over the \(sideLimit) pixels a side of the format")
        }
        if size.pixels > configuration.limits.pixels {
            return .output(order.spec, reason: "\(size) is over the limit of \(configuration.limits.pixels) pixels")
        }
        return nil
    }

    package func render(
        _ picture: Picture, _ orders: [RenderOrder], lane: Lane, isReuse: Bool
    ) async throws(RenderFailure) -> [RenderedVariant] {
        for order in orders { if let refusal = refusal(of: order) { throw refusal } }
        var variants: [RenderedVariant] = []
        for start in stride(from: 0, to: orders.count, by: RenderRequest.outputLimit) {
            let part = orders[start..<min(start + RenderRequest.outputLimit, orders.count)]
            let request = RenderRequest(
                facts: picture.facts, isReuse: isReuse, deadlineMilliseconds: configuration.deadlineMilliseconds,
                outputs: part.map { order in
                    RenderOutput(
                        format: order.spec.format, quality: order.spec.quality,
                        effort: configuration.effort.effort(for: order.spec.format, on: lane), size: order.output,
                        cut: order.cut)
                })
            variants += try await queue.perform(PendingRender(picture: picture, specs: part.map(\.spec), request: request))
                .get()
        }
        return variants
    }

    /// The most resident memory that any one child has had.
    package var peakMemoryBytes: Int { seats.reduce(0) { max($0, $1.peakMemory) } }

    /// Children that crashed, hung or answered nonsense.
    package var losses: Int { seats.reduce(0) { $0 + $1.losses } }

    /// The children that run now.
    package var processes: [ChildProcess] { seats.compactMap(\.process) }

    /// Ends the children at once: what waits fails, and so does what runs.
    package func stop() async {
        queue.stop()
        for seat in seats { seat.interrupt() }
        for seat in seats { await seat.ended() }
    }
}

/// One render, on its way to a child.
struct PendingRender: Sendable {
    let picture: Picture
    let specs: [VariantSpec]
    let request: RenderRequest
}

/// Renders that wait for a child, in order.
final class RenderQueue: Sendable {
    typealias Answer = Result<[RenderedVariant], RenderFailure>

    /// A render and who waits for it; none: the wish to know whether a child can be had.
    struct Entry: Sendable {
        let render: PendingRender?
        let waiter: Waiter
    }

    /// Whoever waits for one answer: the first is taken, by whichever of a child and a cancellation comes first.
    final class Waiter: Sendable {
        private enum State {
            case idle
            case waiting(CheckedContinuation<Answer, Never>)
            case answered(Answer)
        }
        private let state = Mutex(State.idle)

        func wait(_ continuation: CheckedContinuation<Answer, Never>) {
            let early = state.withLock { state -> Answer? in
                if case .answered(let answer) = state { return answer }
                state = .waiting(continuation)
                return nil
            }
            if let early { continuation.resume(returning: early) }
        }

        func answer(_ answer: Answer) {
            let waiting = state.withLock { state -> CheckedContinuation<Answer, Never>? in
                defer { if case .answered = state {} else { state = .answered(answer) } }
                if case .waiting(let continuation) = state { return continuation }
                return nil
            }
            waiting?.resume(returning: answer)
        }

        var isAnswered: Bool { state.withLock { if case .answered = $0 { true } else { false } } }
    }

    private struct State {
        var entries: [Entry] = []
        var first = 0
        var isStopped = false
    }
    private let state = Mutex(State())
    /// Counts entries, and, once stopped, lets every seat through.
    private let arrivals = DispatchSemaphore(value: 0)
    private static let stopped = RenderFailure.unavailable(reason: "the worker is stopping")

    /// A task that is cancelled gets its answer at once; a child that works on it goes on alone.
    func perform(_ render: PendingRender?) async -> Answer {
        let waiter = Waiter()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiter.wait(continuation)
                let isTaken = state.withLock { state in
                    if !state.isStopped { state.entries.append(Entry(render: render, waiter: waiter)) }
                    return !state.isStopped
                }
                if isTaken { arrivals.signal() } else { waiter.answer(.failure(Self.stopped)) }
            }
        } onCancel: {
            waiter.answer(.failure(Self.stopped))
        }
    }

    /// Blocks until there is a render to do; nil when there will be none.
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

    var hasStopped: Bool { state.withLock { $0.isStopped } }

    func stop() {
        let left = state.withLock { state in
            defer { (state.entries, state.first, state.isStopped) = ([], 0, true) }
            return Array(state.entries[state.first...])
        }
        for entry in left { entry.waiter.answer(.failure(Self.stopped)) }
        arrivals.signal()
    }
}
