internal import Dispatch
internal import Foundation
internal import Glibc
internal import Posix

/// Threads of another process that stand still until they are let go, or this value is: a tracer's stop needs nothing of theirs.
package final class HaltedThreads: Sendable {
    private let end = DispatchSemaphore(value: 0)

    package struct Unstoppable: Error {}

    package init(named name: String, of process: Int32) async throws {
        let isHalted = await withCheckedContinuation { continuation in
            // What a thread traces goes on when that ends.
            OwnThread.start("halting") { [end] in
                continuation.resume(returning: Self.halt(Self.threads(named: name, of: process)))
                // A process that dies is gone only once the tracer of its threads has heard of them.
                while end.wait(timeout: .now() + .milliseconds(20)) == .timedOut {
                    while waitpid(-1, nil, WNOHANG | Self.anyThread | Self.ownThread) > 0 {}
                }
            }
        }
        guard isHalted else { throw Unstoppable() }
    }

    deinit { release() }

    package func release() { end.signal() }

    private static func threads(named name: String, of process: Int32) -> [Int32] {
        let tasks = "/proc/\(process)/task"
        let names = (try? FileSystem.names(in: tasks)) ?? []
        return names.compactMap { Int32($0) }.filter {
            (try? String(contentsOfFile: "\(tasks)/\($0)/comm", encoding: .utf8)) == name + "\n"
        }
    }

    private static func halt(_ threads: [Int32]) -> Bool {
        typealias Call = @convention(c) (Int, Int, Int, Int) -> Int
        let (seize, interrupt) = (0x4206, 0x4207)
        // Swift has no variadic C functions.
        guard !threads.isEmpty, let symbol = dlsym(nil, "ptrace") else { return false }
        let ptrace = unsafeBitCast(symbol, to: Call.self)
        return threads.allSatisfy { thread in
            ptrace(seize, Int(thread), 0, 0) == 0 && ptrace(interrupt, Int(thread), 0, 0) == 0
                && waitpid(thread, nil, anyThread) == thread
        }
    }

    /// `__WALL` and `__WNOTHREAD`.
    private static let (anyThread, ownThread): (Int32, Int32) = (0x4000_0000, 0x2000_0000)
}
