package import Posix

/// An unopened store, as doctor, metrics and commands examine it. An examination leaves nothing behind.
package protocol StoreSite: Sendable {
    /// Location of the store.
    var place: StorePlace { get }
    /// Folders of the store on this machine; empty if it is elsewhere.
    var folders: [StoreFolder] { get }
    /// Meter of the store's free bytes; nil if the store has no limit, or does not report it.
    func room() -> FreeSpace?
    /// Tests whether blobs can be stored now, as far as a test leaves nothing behind.
    func trial() async -> StoreTrial
    /// - Parameter hasRoom: whether blobs may use the remaining space on a folder's disk, which others may need.
    func open(hasRoom: @escaping @Sendable (_ root: String) -> Bool) throws(StoreFailure) -> any BlobStore
}

/// Folder of a store, which a complete backup must contain.
package struct StoreFolder: Sendable, Hashable {
    package let name: String
    package let path: String
    /// Whether web servers read it.
    package let isPublic: Bool
    /// Part of its content that a person may overlook.
    package let note: String

    package init(name: String, path: String, isPublic: Bool, note: String) {
        (self.name, self.path, self.isPublic, self.note) = (name, path, isPublic, note)
    }
}

/// Result of testing a store.
package struct StoreTrial: Sendable, Hashable {
    /// Object of the test.
    package let subject: String
    package let isOK: Bool
    package let message: String

    package init(_ subject: String, isOK: Bool, _ message: String) {
        (self.subject, self.isOK, self.message) = (subject, isOK, message)
    }
}
