internal import CPosix
internal import Glibc

/// What a renderer child gives up before it sees a byte from outside.
///
/// Data is limited above all, since a fresh child maps 200 to 450 MB and uses 50; address space beyond what is mapped then.
package enum Sandbox {
    /// One heap for all threads: an arena opens files when it is made, and keeps what is freed.
    package static func useOneArena() { _ = mz_malloc_arenas(1) }

    /// Blocks below this size are used again instead of being mapped, zeroed and unmapped each time; see `trimHeap`.
    package static func keepFreedMemory(upTo bytes: Int) { _ = mz_malloc_keep(Int32(clamping: bytes)) }

    /// LittleCMS asks for the time zone, which would open a file later on.
    package static func fixTimeZone() {
        setenv("TZ", "UTC0", 1)
        tzset()
    }

    /// Runs `body` while this process cannot make a file longer.
    ///
    /// liborc compiles libvips's loops while images are rendered. It keeps the machine code in a mapped file if it can make one, so a
    /// parent and all its children would share that memory, and each would run what another compiled last. Without a file liborc takes
    /// private memory, which each child has for itself.
    package static func withoutFiles<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        signal(SIGXFSZ, SIG_IGN)
        var before: UInt64 = 0
        let isLimited = mz_exchange_file_limit(0, &before) == 0
        defer { if isLimited { _ = mz_exchange_file_limit(before, &before) } }
        return try body()
    }

    /// Whether this process may have private memory that it both writes and runs: some kernels refuse that.
    package static var mayCompile: Bool {
        let memory = mmap(nil, 4_096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { return false }
        munmap(memory, 4_096)
        return true
    }

    /// What it costs if this process may not.
    package static let uncompiled =
        "Renderers do not compile libvips's loops: a PNG source takes 1.6 times the CPU. Remove MemoryDenyWriteExecute=yes from the "
        + "unit, or allow such memory for the container."

    /// - Parameters:
    ///   - cpuSeconds: nil for a process that only forks: its children have limits of their own (`limitChild`).
    ///   - mapped: what this process has mapped, as it was known before it left /proc behind.
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
        // What it writes goes into memory that is not its own: without a limit, all there is. Ignored, since standard error may
        // be a longer file; the write that is too long then fails.
        guard mz_limit_file(UInt64(fileBytes ?? dataBytes)) == 0 else {
            throw SystemFailure("limit", on: "file size", code: errno)
        }
        signal(SIGXFSZ, SIG_IGN)
        guard mz_limit_core(0) == 0 else { throw SystemFailure("limit", on: "core", code: errno) }
        guard mz_limit_files(UInt64(files)) == 0 else { throw SystemFailure("limit", on: "files", code: errno) }
        guard mz_no_new_privileges() == 0 else { throw SystemFailure("limit", on: "privileges", code: errno) }
    }

    /// What the pictures that are mapped, and threads' guards, may have beside the data.
    private static let mappedBytes = 1 << 30

    /// The kernel ends this process by SIGALRM when so many seconds pass; 0 takes that back.
    package static func alarm(seconds: Int) { _ = Glibc.alarm(UInt32(clamping: seconds)) }

    /// Whether this process may signal that one; nothing is sent.
    package static func maySignal(_ process: Int32) -> Bool { mz_signal_thread(process, process, 0) == 0 }

    /// Returns freed memory to the kernel, except for so many bytes that the heap ends with.
    package static func trimHeap(keeping bytes: Int) { _ = malloc_trim(bytes) }
}
