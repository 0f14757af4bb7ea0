internal import Posix
internal import Synchronization

/// The directories above blobs: made when needed, and known to be on the disk before a put returns.
///
/// The directory of a blob is synced with each put; those above it only when one in them was made. A put that finds a
/// directory which another is just making must not rely on the other's sync: until that is done, both sync.
///
/// - Concurrency: any thread.
final class DirectoryTree: Sendable {
    private let root: String
    /// Made by this process, and not yet synced into what they stand in.
    private let fresh = Mutex<Set<String>>([])

    init(_ root: String) { self.root = root }

    /// Makes what is missing above `location`; returns the directories whose own entry is to be synced.
    func make(above location: String) throws(SystemFailure) -> [String] {
        var unsynced: [String] = []
        for path in Self.ancestors(of: location) {
            let isFresh = try fresh.withLock { (fresh) throws(SystemFailure) in
                if try FileSystem.makeDirectory("\(root)/\(path)") { fresh.insert(path) }
                return fresh.contains(path)
            }
            if isFresh { unsynced.append(path) }
        }
        return unsynced
    }

    /// Returns when `location` can be found after a crash. The deepest goes first: on a journalling file system its
    /// sync carries the others.
    func syncAbove(_ location: String, made: [String]) throws(SystemFailure) {
        let ancestors = Self.ancestors(of: location)
        let unsynced = made.isEmpty ? fresh.withLock { fresh in ancestors.filter(fresh.contains) } : made
        try FileSystem.syncDirectory("\(root)/\(ancestors[3])")
        for path in unsynced.reversed() {
            let parent = path.lastIndex(of: "/").map { path[..<$0] }
            try FileSystem.syncDirectory(parent.map { "\(root)/\($0)" } ?? root)
        }
        fresh.withLock { fresh in unsynced.forEach { fresh.remove($0) } }
    }

    /// `ab`, `ab/cd`, `ab/cd/<key>`, `ab/cd/<key>/<version>`.
    private static func ancestors(of location: String) -> [String] {
        location.indices.filter { location[$0] == "/" }.map { String(location[..<$0]) }
    }
}
