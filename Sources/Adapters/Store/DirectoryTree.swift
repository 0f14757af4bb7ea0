internal import Posix
internal import Synchronization

/// The directories above blobs: created when needed, and durable before a put returns.
///
/// The directory of a blob is synced with each put, and higher directories only when one inside them was created. If a
/// put finds a directory that another put is creating, it must not rely on the other's sync: until that is done, both
/// sync.
///
/// - Concurrency: any thread.
final class DirectoryTree: Sendable {
    private let root: String
    private let mode: UInt32
    /// Directories that this process created and has not yet synced into their parents.
    private let fresh = Mutex<Set<String>>([])

    init(_ root: String, mode: UInt32) { (self.root, self.mode) = (root, mode) }

    /// Creates the missing directories above `location`.
    func make(above location: String) throws(SystemFailure) {
        for path in Self.ancestors(of: location) {
            try fresh.withLock { (fresh) throws(SystemFailure) in
                if try FileSystem.makeDirectory("\(root)/\(path)", mode: mode) { fresh.insert(path) }
            }
        }
    }

    /// Returns when `locations` can be found after a crash. The deepest directories are synced first: on a journalling
    /// file system, their syncs carry the others.
    func sync(above locations: [String]) throws(SystemFailure) {
        let ancestors = locations.map(Self.ancestors)
        let unsynced = fresh.withLock { fresh in Set(ancestors.joined().filter(fresh.contains)) }
        let parents = unsynced.map { path in path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }
        for path in Set(ancestors.compactMap(\.last) + parents).sorted(by: { $0.utf8.count > $1.utf8.count }) {
            try FileSystem.syncDirectory("\(root)/\(path)")
        }
        fresh.withLock { $0.subtract(unsynced) }
    }

    /// Directories above a blob: `ab`, `ab/cd`, `ab/cd/<key>`, `ab/cd/<key>/<version>`.
    private static func ancestors(of location: String) -> [String] {
        location.indices.filter { location[$0] == "/" }.map { String(location[..<$0]) }
    }
}
