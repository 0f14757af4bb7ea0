import Clocks
import Foundation
import Posix
import Synchronization
import TestSupport
import Testing

@Suite("A thread of ours, as executor and poll loop", .timeLimit(.minutes(1)))
struct PollThreadTests {
    actor Pinned {
        let thread: PollThread
        var count = 0
        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
        init(_ thread: PollThread) { self.thread = thread }
        func add() -> String {
            count += 1
            return currentThread()
        }
    }

    @Test("Everything that an actor pinned to it does is done on one thread, and nothing is lost")
    func jobs() async {
        let pinned = Pinned(PollThread("pinned"))
        let threads = await withTaskGroup(of: String.self) { group in
            for _ in 0..<1_000 { group.addTask { await pinned.add() } }
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(threads.count == 1)
        #expect(await pinned.count == 1_000)
    }

    @Test("In a turn the pinned actor may be assumed isolated, and elsewhere not")
    func isolation() async {
        let thread = PollThread("turns")
        let pinned = Pinned(thread)
        let (turns, sink) = AsyncStream<Int>.makeStream()
        thread.poll {
            sink.yield(pinned.assumeIsolated { $0.count })
            return nil
        }
        for await count in turns {
            #expect(count == 0)
            break
        }
        #expect(thread.isIsolatingCurrentContext() == false)
        thread.stopPolling()
        #expect(await pinned.add() != currentThread())
    }

    @Test("A turn comes when woken, when a descriptor is ready, and when its deadline has passed")
    func turns() async throws {
        let folder = try TemporaryFolder()
        let bell = try WakeFile(folder.file("bell"), watching: true)
        let thread = PollThread("turns")
        let deadline = Mutex<Instant?>(nil)
        let (turns, sink) = AsyncStream<Bool>.makeStream()
        var turn = turns.makeAsyncIterator()
        thread.poll([bell.watch]) {
            // Read first: whoever hears of the turn may change it at once.
            let due = deadline.withLock { $0 }
            sink.yield(bell.heard())
            return due
        }
        #expect(await turn.next() == false)
        try WakeFile(folder.file("bell"), watching: false).ring()
        #expect(await turn.next() == true)
        deadline.withLock { $0 = SystemTime.monotonic + .milliseconds(20) }
        thread.wake()
        #expect(await turn.next() == false)
        let due = deadline.withLock { due in
            defer { due = nil }
            return due
        }
        #expect(await turn.next() == false)
        #expect(SystemTime.monotonic >= (due ?? .distantFuture))
        thread.stopPolling()
    }

    @Test("A wake-up is not lost to a thread that is about to sleep")
    func wakeUps() async {
        let thread = PollThread("wakes")
        let (turns, sink) = AsyncStream<Void>.makeStream()
        var turn = turns.makeAsyncIterator()
        thread.poll {
            sink.yield()
            return nil
        }
        await turn.next()
        for _ in 0..<5_000 {
            thread.wake()
            await turn.next()
        }
        thread.stopPolling()
    }

    @Test("The turn is let go when polling stops, and with the thread")
    func release() async {
        final class Held: Sendable {}
        weak var held: Held?
        do {
            let thread = PollThread("held")
            let value = Held()
            held = value
            thread.poll {
                _ = value
                return nil
            }
            _ = await Pinned(thread).add()
            thread.stopPolling()
            // One more job: the loop has let go of the turn that it may just have been taking.
            _ = await Pinned(thread).add()
        }
        #expect(held == nil)
    }
}

/// What tells threads apart; a name would not.
private func currentThread() -> String { Thread.current.description }
