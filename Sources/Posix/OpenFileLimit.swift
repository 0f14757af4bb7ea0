internal import CPosix

/// Files open at one time.
package enum OpenFileLimit {
    /// As many as this process may have; shells and services begin with 1,024. Where it fails, the old limit stands.
    package static func raise() { _ = mz_raise_files() }
}
