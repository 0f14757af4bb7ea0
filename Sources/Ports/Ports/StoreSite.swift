package import Posix

/// A store that is not opened: what doctor, metrics and commands ask of it. Nothing is left behind by asking.
package protocol StoreSite: Sendable {
    /// Where the store is.
    var place: StorePlace { get }
    /// Its folders on this machine; none if it is elsewhere.
    var folders: [StoreFolder] { get }
    /// A meter of the bytes that it has left; nil if the store has no such limit, or does not tell it.
    func room() -> FreeSpace?
    /// Whether blobs could be put now, tried as far as that leaves nothing behind.
    func trial() async -> StoreTrial
    /// - Parameter hasRoom: whether blobs may take what is left of a folder's disk: others may need that.
    func open(hasRoom: @escaping @Sendable (_ root: String) -> Bool) throws(StoreFailure) -> any BlobStore
}

/// A folder of a store, which a whole backup has too.
package struct StoreFolder: Sendable, Hashable {
    package let name: String
    package let path: String
    /// Web servers read it.
    package let isPublic: Bool
    /// What belongs to it that a person may overlook.
    package let note: String

    package init(name: String, path: String, isPublic: Bool, note: String) {
        (self.name, self.path, self.isPublic, self.note) = (name, path, isPublic, note)
    }
}

/// What came of trying a store.
package struct StoreTrial: Sendable, Hashable {
    /// What was tried.
    package let subject: String
    package let isWell: Bool
    package let message: String

    package init(_ subject: String, isWell: Bool, _ message: String) {
        (self.subject, self.isWell, self.message) = (subject, isWell, message)
    }
}
