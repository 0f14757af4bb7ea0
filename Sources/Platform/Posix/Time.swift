internal import CPosix
package import Clocks
internal import Glibc

/// The two clocks, for adapters; rules get the time as a value instead.
package enum SystemTime {
    package static var wall: WallTime { WallTime(milliseconds: mz_wall_ms()) }
    package static var monotonic: Instant { Instant(nanoseconds: mz_monotonic_ns()) }

    /// Id of the machine's current start: monotonic times of one start are comparable between processes. nil if the
    /// system does not report it.
    package static let boot: String? = {
        guard let file = fopen("/proc/sys/kernel/random/boot_id", "r") else { return nil }
        defer { fclose(file) }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
            fgets(text.baseAddress!, 64, file).map { _ in String(cString: text.baseAddress!).filter { $0 != "\n" } }
        }
    }()

    /// Time for people: `2026-01-31T12:00:00Z`.
    package static func text(_ time: WallTime) -> String {
        var (seconds, parts) = (time_t(time.milliseconds / 1000), tm())
        gmtime_r(&seconds, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
            strftime(text.baseAddress!, 32, "%Y-%m-%dT%H:%M:%SZ", &parts)
            return String(cString: text.baseAddress!)
        }
    }
}
