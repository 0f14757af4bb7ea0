internal import CPosix
internal import Glibc

/// A pipe by which a library's threads wake a poll thread: each of its queues writes a slot of two bytes.
///
/// - Ownership: both ends, closed by `deinit`, after all writers are gone.
/// - Concurrency: one thread reads; any thread writes.
package final class WakePipe: Sendable {
    package let readable: Int32
    package let writable: Int32

    package init() throws(SystemFailure) {
        var ends: [Int32] = [-1, -1]
        guard CPosix.pipe2(&ends, Int32(O_NONBLOCK | O_CLOEXEC)) == 0 else {
            throw SystemFailure("pipe", on: "wake-ups", code: errno)
        }
        (readable, writable) = (ends[0], ends[1])
    }

    deinit {
        Glibc.close(readable)
        Glibc.close(writable)
    }

    /// The slots written since the last call.
    package func take() -> Set<Int> {
        var slots: Set<Int> = []
        withUnsafeTemporaryAllocation(of: UInt16.self, capacity: 2_048) { buffer in
            while true {
                let count = Glibc.read(readable, buffer.baseAddress, buffer.count * 2)
                guard count > 0 else { return }
                for slot in buffer[..<(count / 2)] { slots.insert(Int(slot)) }
            }
        }
        return slots
    }
}
