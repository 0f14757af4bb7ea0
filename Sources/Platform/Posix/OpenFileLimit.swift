internal import CPosix
internal import Glibc

/// Limit of files open at one time.
package enum OpenFileLimit {
    /// Raises the limit to the maximum; shells and services begin with 1,024. If that fails, the old limit stays.
    package static func raise() { _ = mz_raise_files() }

    /// The current limit.
    package static var current: UInt64 {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? UInt64(limit.rlim_cur) : 0
    }
}
