internal import Clocks
internal import Posix
internal import Synchronization

/// The store's root, kept open for some milliseconds at a time, because its name may later refer to another directory.
final class RecentDirectory: Sendable {
    private final class Opened: Sendable {
        let directory: OpenDirectory
        let at: Instant

        init(_ root: String, at now: Instant) throws(SystemFailure) {
            directory = try OpenDirectory(root)
            at = now
        }
    }

    private let opened = Mutex<Opened?>(nil)
    private static let age = Duration.milliseconds(5)

    /// The file of this name below the root; nil if none exists, or the lookup fails.
    func file(at location: String, below root: String) -> (length: Int, isRegular: Bool)? {
        let now = SystemTime.monotonic
        let opened = opened.withLock { opened in
            if opened.map({ now - $0.at > Self.age }) ?? true { opened = try? Opened(root, at: now) }
            return opened
        }
        return opened?.directory.file(at: location)
    }
}
