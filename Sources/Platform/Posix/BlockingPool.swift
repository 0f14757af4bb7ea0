internal import Dispatch
internal import Synchronization

/// A few threads that run blocking work in order of arrival, bridged to `async`.
///
/// - Concurrency: work is not cancelled; the threads end after the pool is released and its queue is empty.
package final class BlockingPool: Sendable {
    private let queue = Queue()
    private let threads: Int

    package init(_ name: String, threads: Int) {
        self.threads = max(1, threads)
        for _ in 0..<self.threads { OwnThread.start(name) { [queue] in queue.work() } }
    }

    deinit { for _ in 0..<threads { queue.add(nil) } }

    package func run<Value: Sendable, Failure: Error>(_ work: @escaping @Sendable () throws(Failure) -> Value)
        async throws(Failure) -> Value
    {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.add { continuation.resume(returning: Result(catching: work)) }
        }
        return try result.get()
    }

    private final class Queue: Sendable {
        private let items = Mutex<(ready: [(@Sendable () -> Void)?], next: Int)>(([], 0))
        private let ready = DispatchSemaphore(value: 0)

        /// Adds an item; nil ends one thread.
        func add(_ item: (@Sendable () -> Void)?) {
            items.withLock { $0.ready.append(item) }
            ready.signal()
        }

        func work() {
            while true {
                ready.wait()
                let item = items.withLock { queue in
                    let item = queue.ready[queue.next]
                    queue.ready[queue.next] = nil
                    queue.next += 1
                    if queue.next * 2 > queue.ready.count {
                        queue.ready.removeFirst(queue.next)
                        queue.next = 0
                    }
                    return item
                }
                guard let item else { return }
                item()
            }
        }
    }
}
