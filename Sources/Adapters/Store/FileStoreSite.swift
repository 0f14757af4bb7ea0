package import Ports
package import Posix

/// The folders of a file store, before it is opened.
package struct FileStoreSite: StoreSite {
    private let root: String
    private let originals: String
    private let mode: FileMode

    /// - Parameter data: data directory that contains the folders unless the settings name them.
    package init(_ settings: FileStoreSettings, in data: String) {
        (root, originals, mode) = (settings.root(in: data), settings.originals(in: data), settings.mode)
    }

    package var place: StorePlace { .folder(root) }

    package var folders: [StoreFolder] {
        let note = "with its file .identity"
        return [
            StoreFolder(name: "store", path: root, isPublic: true, note: note),
            StoreFolder(name: "originals", path: originals, isPublic: false, note: note),
        ]
    }

    package func room() -> FreeSpace? { FreeSpace(of: root) }

    /// A file is written and synced in each folder that is there.
    package func trial() async -> StoreTrial {
        let subject = "store directory"
        let found = Folder.trial(root)
        guard found.isOK else { return StoreTrial(subject, isOK: false, found.message) }
        for path in [root, originals] {
            let other = Folder.trial(path)
            guard other.isOK else { return StoreTrial(subject, isOK: false, other.message) }
            guard Folder.isFolder(path) else { continue }
            do throws(SystemFailure) { try BlobFolder(path, .own).tryWriting() } catch {
                return StoreTrial(subject, isOK: false, FileStore.unwritable(path, error).description)
            }
        }
        return StoreTrial(subject, isOK: true, found.message)
    }

    package func open(
        hasRoom: @escaping @Sendable (_ root: String) -> Bool
    ) throws(StoreFailure) -> any BlobStore {
        try FileStore(root: root, originals: originals, mode: mode, hasRoom: hasRoom)
    }
}

extension StorePlace {
    /// A folder or file of a file store.
    package static func folder(_ path: String) -> StorePlace {
        place(path, unreadable: "Remove that file: it is made again when it is needed.")
    }

    /// The store's own folder, or its identity file.
    static func root(_ path: String) -> StorePlace {
        place(path, unreadable: "Give the worker's user the right to read it, or check its disk.")
    }

    private static func place(_ path: String, unreadable: String) -> StorePlace {
        StorePlace(
            path,
            Remedies(
                unwritable:
                    "Set store.directory and store.originals.directory to directories that this user can write.",
                unreadable: unreadable,
                missing: "The folder was removed or recreated, or its disk is not mounted."))
    }
}
