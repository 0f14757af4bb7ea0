internal import CPosix
internal import Glibc

/// Processors that threads may run on.
package struct ProcessorSet: Sendable, Equatable {
    /// A bit for each of 8,192 processors.
    private var bits = [UInt](repeating: 0, count: 128)
    private static let bytes = 128 * MemoryLayout<UInt>.size

    /// The processors of a thread, by default of the calling one; nil if the kernel does not report them.
    package init?(of thread: Int32 = 0) {
        guard mz_processors(thread, &bits, Self.bytes) > 0 else { return nil }
    }

    /// The processor on which the calling thread runs.
    private init?(current number: Int32) {
        guard number >= 0, bits.indices.contains(Int(number) / UInt.bitWidth) else { return nil }
        bits[Int(number) / UInt.bitWidth] = 1 << (UInt(number) % UInt(UInt.bitWidth))
    }

    package static var current: ProcessorSet? { ProcessorSet(current: mz_own_processor()) }

    package var count: Int { bits.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// Applies the set to a thread; false if the kernel refuses, as for a process of another user.
    package func apply(to thread: Int32) -> Bool { mz_set_processors(thread, bits, Self.bytes) == 0 }
}

extension ChildProcess {
    /// Runs `body`, which wakes this process, and makes the kernel start it on the calling thread's processor.
    ///
    /// The calling thread must wait for the process next. Linux 6.18 queues a process on the processor where it last
    /// ran, if it finds none idle at that moment. Two renderers then shared a processor for up to 4 ms, until the next
    /// balancing, while the caller's processor was idle.
    ///
    /// Afterwards the process may run on all processors of the caller. If the kernel refuses, it chooses the processor
    /// itself.
    package func wakeHere<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        guard !isForgotten, let all = ProcessorSet(), all.count > 1, let here = ProcessorSet.current,
            here.apply(to: pid)
        else { return try body() }
        defer {
            _ = all.apply(to: pid)
            // If this thread was preempted meanwhile, the process may have started threads, which inherit the one
            // processor.
            for thread in threads where thread != pid { _ = all.apply(to: thread) }
        }
        try body()
    }

    private var threads: [Int32] {
        guard let folder = opendir("/proc/\(pid)/task") else { return [] }
        defer { closedir(folder) }
        var threads: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let thread = Int32(name) { threads.append(thread) }
        }
        return threads
    }
}
