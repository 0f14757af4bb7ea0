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
    private let mode: UInt32
    /// Made by this process, and not yet synced into what they stand in.
    private let fresh = Mutex<Set<String>>([])

    init(_ root: String, mode: UInt32) { (self.root, self.mode) = (root, mode) }

    /// Makes what is missing above `location`.
    func make(above location: String) throws(SystemFailure) {
        for path in Self.ancestors(of: location) {
            try fresh.withLock { (fresh) throws(SystemFailure) in
                if try FileSystem.makeDirectory("\(root)/\(path)", mode: mode) { fresh.insert(path) }
            }
        }
    }

    /// Returns when `locations` can be found after a crash. The deepest go first: on a journalling file system their
    /// syncs carry the others.
    func sync(above locations: [String]) throws(SystemFailure) {
        let ancestors = locations.map(Self.ancestors)
        let unsynced = fresh.withLock { fresh in Set(ancestors.joined().filter(fresh.contains)) }
        let parents = unsynced.map { path in path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }
        for path in Set(ancestors.compactMap(\.last) + parents).sorted(by: { $0.utf8.count > $1.utf8.count }) {
            try FileSystem.syncDirectory("\(root)/\(path)")
        }
        fresh.withLock { $0.subtract(unsynced) }
    }

    /// `ab`, `ab/cd`, `ab/cd/<key>`, `ab/cd/<key>/<version>`.
    private static func ancestors(of location: String) -> [String] {
        location.indices.filter { location[$0] == "/" }.map { String(location[..<$0]) }
    }
}
