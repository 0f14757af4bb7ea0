internal import CPosix
internal import Glibc

/// Limits of a renderer, applied before it reads a byte from outside.
///
/// Data is limited rather than address space: a fresh process maps 200 to 450 MB and uses 50. Address space is limited
/// beyond that.
package enum Sandbox {
    /// Uses one heap for all threads: an additional arena opens files when it is created, and keeps freed memory.
    package static func useOneArena() { _ = mz_malloc_arenas(1) }

    /// Reuses blocks below this size rather than mapping, zeroing and unmapping them each time; see `trimHeap`.
    package static func keepFreedMemory(upTo bytes: Int) { _ = mz_malloc_keep(Int32(clamping: bytes)) }

    /// Sets a time zone, because LittleCMS would otherwise open a file for it later.
    package static func fixTimeZone() {
        setenv("TZ", "UTC0", 1)
        tzset()
    }

    /// Runs `body` while this process cannot lengthen any file.
    ///
    /// liborc compiles libvips's loops during renders. It keeps the machine code in a mapped file if it can create one.
    /// A parent and all its children would then share that memory, and each would run the loops that another compiled
    /// last. Without a file, liborc uses memory private to each child.
    package static func withoutFiles<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        signal(SIGXFSZ, SIG_IGN)
        var before: UInt64 = 0
        let isLimited = mz_exchange_file_limit(0, &before) == 0
        defer { if isLimited { _ = mz_exchange_file_limit(before, &before) } }
        return try body()
    }

    /// Whether this process may have private memory that is both writable and executable: some kernels refuse that.
    package static var mayCompile: Bool {
        let memory = mmap(nil, 4_096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { return false }
        munmap(memory, 4_096)
        return true
    }

    /// Consequence if this process may not.
    package static let uncompiled =
        "Renderers do not compile libvips's loops: a PNG source takes 1.6 times the CPU. Remove MemoryDenyWriteExecute=yes from the "
        + "unit, or allow such memory for the container."

    /// - Parameters:
    ///   - cpuSeconds: nil for a process that only forks: its children have limits of their own (`limitChild`).
    ///   - mapped: bytes that this process has mapped, read before it lost access to /proc.
    /// - Failure: names the limit that could not be set.
    package static func limit(
        dataBytes: Int, cpuSeconds: Int?, files: Int, fileBytes: Int? = nil, mapped: Int? = ProcessMemory.mapped
    ) throws(SystemFailure) {
        guard mz_limit_data(UInt64(dataBytes)) == 0 else { throw SystemFailure("limit", on: "data", code: errno) }
        if let mapped {
            guard mz_limit_space(UInt64(mapped + dataBytes + mappedBytes)) == 0 else {
                throw SystemFailure("limit", on: "address space", code: errno)
            }
        }
        guard cpuSeconds.map({ mz_limit_cpu(UInt64($0)) }) ?? 0 == 0 else {
            throw SystemFailure("limit", on: "CPU", code: errno)
        }
        // Output goes to memory outside the process, so it would be unlimited otherwise. The signal is ignored, since
        // standard error may be a longer file; only the write that exceeds the limit fails.
        guard mz_limit_file(UInt64(fileBytes ?? dataBytes)) == 0 else {
            throw SystemFailure("limit", on: "file size", code: errno)
        }
        signal(SIGXFSZ, SIG_IGN)
        guard mz_limit_core(0) == 0 else { throw SystemFailure("limit", on: "core", code: errno) }
        guard mz_limit_files(UInt64(files)) == 0 else { throw SystemFailure("limit", on: "files", code: errno) }
        guard mz_no_new_privileges() == 0 else { throw SystemFailure("limit", on: "privileges", code: errno) }
    }

    /// Address space for mapped pictures and threads' guards, in addition to the data.
    private static let mappedBytes = 1 << 30

    /// Lets the kernel end this process by SIGALRM after this many seconds; 0 cancels that.
    package static func alarm(seconds: Int) { _ = Glibc.alarm(UInt32(clamping: seconds)) }

    /// Whether this process may signal that one; it sends no signal.
    package static func maySignal(_ process: Int32) -> Bool { mz_signal_thread(process, process, 0) == 0 }

    /// Returns freed memory to the kernel, except this many bytes at the heap's end.
    package static func trimHeap(keeping bytes: Int) { _ = malloc_trim(bytes) }
}
