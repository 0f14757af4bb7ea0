internal import Dispatch
internal import Glibc
internal import Posix
internal import Synchronization
internal import Testing

@Suite(
    "Processors: a process that is woken here starts on the caller's processor",
    .enabled(if: ProcessorSet().map { $0.count > 1 } ?? false, "this machine has one processor"))
struct ProcessorSetTests {
    @Test("While it is woken it may run on one processor alone, and then wherever the caller may")
    func placed() throws {
        let (_, theirs) = try PacketSocket.pair()
        let process = try ChildProcess(program: "/bin/sleep", arguments: ["60"], socket: theirs)
        defer {
            process.kill()
            _ = process.reap()
        }
        var during: ProcessorSet?
        process.wakeHere { during = ProcessorSet(of: process.pid) }
        #expect(during?.count == 1)
        #expect(ProcessorSet(of: process.pid) == ProcessorSet())
    }

    @Test("Threads that it started meanwhile may run wherever the caller may, too")
    func threads() throws {
        let process = try ChildProcess(forked: getpid()) { .killed }
        let (pinned, placed, seen) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let counts = Mutex([Int?]())
        OwnThread.start("pinned") {
            _ = ProcessorSet.current?.apply(to: 0)
            counts.withLock { $0.append(ProcessorSet()?.count) }
            pinned.signal()
            placed.wait()
            counts.withLock { $0.append(ProcessorSet()?.count) }
            seen.signal()
        }
        process.wakeHere { pinned.wait() }
        placed.signal()
        seen.wait()
        #expect(counts.withLock { $0 } == [1, ProcessorSet()?.count])
    }
}
