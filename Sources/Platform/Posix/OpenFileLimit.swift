internal import CPosix
internal import Glibc

/// Files open at one time.
package enum OpenFileLimit {
    /// As many as this process may have; shells and services begin with 1,024. Where it fails, the old limit stands.
    package static func raise() { _ = mz_raise_files() }

    /// As many as this process may have now.
    package static var current: UInt64 {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? UInt64(limit.rlim_cur) : 0
    }
}
