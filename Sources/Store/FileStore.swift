internal import Canonical
package import Digest
internal import Records
package import Ports
package import Posix
internal import Synchronization

/// Blobs as files below one directory: `ab/cd/<source key>/<version>/<leaf>`.
///
/// A blob appears under its name whole and on the disk, or not at all: it is written and synced under another name,
/// then linked, and the directories are synced before the put returns. The first to put a name wins.
///
/// - Concurrency: file work runs on threads of its own; several processes may share a directory.
package final class FileStore: BlobStore {
    let root: String
    let pool: BlockingPool
    /// For looks, which are the largest part of a stored job's cost: the way to the root is a third of theirs.
    private let directory = RecentDirectory()
    private let tree: DirectoryTree
    /// Whether the disk has room for blobs: others may need what is left of it.
    private let hasRoom: @Sendable () -> Bool

    /// The store that rows are bound to, once that is known.
    let adopted = Mutex<StoreIdentity?>(nil)

    /// Opens the store at `root`, which is made if it is not there and its disk has room, and removes what puts that were cut short left more
    /// than `leftoverAge` seconds ago.
    package init(
        root: String, threads: Int = 4, leftoverAge: Int = 3600, hasRoom: @escaping @Sendable () -> Bool = { true }
    ) throws(StoreFailure) {
        (self.root, self.hasRoom) = (root, hasRoom)
        tree = DirectoryTree(root)
        pool = BlockingPool("store", threads: threads)
        do {
            try Folder.make(root)
            _ = try FileSystem.makeDirectory("\(root)/\(Self.unfinished)")
            // A process that died may have left directories made, and not yet synced.
            try FileSystem.syncAll(of: root)
            let old = Int(SystemTime.wallMilliseconds / 1000) - leftoverAge
            for file in try FileSystem.files(in: "\(root)/\(Self.unfinished)") where file.written <= old {
                _ = try FileSystem.remove("\(root)/\(Self.unfinished)/\(file.name)")
            }
        } catch  where error.isOutOfSpace {
            // Jobs wait for room, and what is not made yet is made when the store is adopted.
        } catch {
            throw Self.unwritable(root, error)
        }
    }

    package func put(_ blobs: [NewBlob]) async throws(StoreFailure) -> [StoredBlob] {
        try await pool.run { [self] () throws(StoreFailure) in
            if let absence { throw absence }
            return try write(blobs)
        }
    }

    package func open(_ location: String) async throws(StoreFailure) -> OpenFile? {
        guard Self.isValid(location) else { throw .badLocation(location) }
        return try await pool.run { [self] () throws(StoreFailure) in
            if let absence { throw absence }
            return try file(at: location)
        }
    }

    /// Hashed on a thread of the store: the cooperative pool waits for no disk, and the heap is not for pictures.
    package func open(
        _ location: String, if isExpected: @escaping @Sendable (SHA256Digest) -> Bool
    ) async throws(StoreFailure) -> OpenFile? {
        guard Self.isValid(location) else { throw .badLocation(location) }
        return try await pool.run { [self] () throws(StoreFailure) in
            if let absence { throw absence }
            do throws(StoreFailure) {
                guard let file = try file(at: location) else { return nil }
                return isExpected(try digest(of: FileSlice(whole: file), at: location)) ? file : nil
            } catch {
                guard case .unreadable = error else { throw error }
                return nil
            }
        }
    }

    package func isGone(_ location: String, bytes: Int) -> Bool {
        guard Self.isValid(location) else { return false }
        if let found = directory.file(at: location, below: root), found.isRegular, found.length == bytes { return false }
        // Asked again by its whole name: the directory may have been another one's until a moment ago.
        let path = "\(root)/\(location)"
        do throws(SystemFailure) {
            guard let found = try FileSystem.file(at: path) else { return true }
            guard found.isRegular, found.length != bytes else { return false }
            guard absence == nil else { return true }
            _ = try? FileSystem.remove(path)
            return true
        } catch {
            // What cannot be asked is left to those who open it.
            return false
        }
    }

    package func remove(_ location: String) async throws(StoreFailure) {
        guard Self.isValid(location) else { throw .badLocation(location) }
        try await pool.run { [self] () throws(StoreFailure) in
            if let absence { throw absence }
            _ = try writing(location) { () throws(SystemFailure) in try FileSystem.remove("\(root)/\(location)") }
        }
    }

    /// The only form that rows of ours have, `ab/cd/<64 digits>/<16 digits>/<leaf>`; nothing else in the file system can
    /// be reached. In one pass: a job whose variants are all stored spends more on this than on its plan.
    package static func isValid(_ location: String) -> Bool {
        location.utf8.withContiguousStorageIfAvailable(isValid) ?? isValid(Array(location.utf8))
    }

    private static func isValid(_ bytes: some RandomAccessCollection<UInt8>) -> Bool {
        guard (89...216).contains(bytes.count) else { return false }
        let at = { (place: Int) in bytes[bytes.index(bytes.startIndex, offsetBy: place)] }
        for place in 0..<88 {
            switch place {
            case 2, 5, 70, 87: guard at(place) == UInt8(ascii: "/") else { return false }
            default: guard isDigit(at(place)) else { return false }
            }
        }
        let leaf = bytes.dropFirst(88)
        return at(0) == at(6) && at(1) == at(7) && at(3) == at(8) && at(4) == at(9) && at(88) != UInt8(ascii: ".")
            && leaf.allSatisfy { (48...57).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 95 || $0 == 46 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) || (97...102).contains(byte) }

    static let unfinished = ".tmp"

    private func file(at location: String) throws(StoreFailure) -> OpenFile? {
        do { return try OpenFile(reading: "\(root)/\(location)") } catch {
            if error.isMissing { return nil }
            throw Self.unreadable(location, error)
        }
    }

    /// What is there under a name, read once for its digest, and whether it is what is being put. What can only be damage
    /// is removed: an original's name says its bytes, and no blob of ours is empty.
    private func existing(_ location: String, insteadOf blob: NewBlob) throws(StoreFailure) -> StoredBlob? {
        guard let file = try file(at: location) else { return nil }
        let digest = try digest(of: FileSlice(whole: file), at: location)
        let isAnothers = try self.digest(of: blob.content, at: location) != digest
        if isAnothers, blob.name.isOriginal || file.length == 0 {
            _ = try writing(location) { () throws(SystemFailure) in try FileSystem.remove("\(root)/\(location)") }
            return nil
        }
        return StoredBlob(location: location, bytes: file.length, digest: digest, isAnothers: isAnothers)
    }

    private func digest(of slice: FileSlice, at location: String) throws(StoreFailure) -> SHA256Digest {
        do { return try Self.copy(slice, to: nil) } catch { throw Self.unreadable(location, error) }
    }

    /// A blob under its unfinished name.
    private struct Draft {
        let path: String
        let blob: NewBlob
        let file: OpenFile
        let stored: StoredBlob
    }

    private func write(_ blobs: [NewBlob]) throws(StoreFailure) -> [StoredBlob] {
        var drafts: [(draft: Draft, place: Int)] = []
        defer { for (draft, _) in drafts { _ = try? FileSystem.remove(draft.path) } }
        var stored: [StoredBlob] = []
        for blob in blobs {
            let location = blob.name.location
            if let found = try existing(location, insteadOf: blob) {
                stored.append(found)
                continue
            }
            guard hasRoom() else { throw .full(path: root) }
            let draft = try writing(location) { () throws(SystemFailure) in try self.draft(blob, location) }
            stored.append(draft.stored)
            drafts.append((draft, stored.count - 1))
        }
        // Directories first: the files' syncs carry them into the journal.
        for blob in stored {
            try writing(blob.location) { () throws(SystemFailure) in try tree.make(above: blob.location) }
        }
        for (draft, _) in drafts {
            try writing(draft.stored.location) { () throws(SystemFailure) in try draft.file.sync() }
        }
        for (draft, place) in drafts {
            let location = draft.stored.location
            let isFirst = try writing(location) { () throws(SystemFailure) in
                try FileSystem.link(draft.path, as: "\(root)/\(location)")
            }
            guard !isFirst else { continue }
            guard let winner = try existing(location, insteadOf: draft.blob) else {
                throw .obstructed(path: location, reason: "it came and went while it was being put")
            }
            stored[place] = winner
        }
        // What was found is synced too: whoever linked it may not have come so far yet.
        try writing(stored.first?.location ?? root) { () throws(SystemFailure) in
            try tree.sync(above: stored.map(\.location))
        }
        return stored
    }

    private func draft(_ blob: NewBlob, _ location: String) throws(SystemFailure) -> Draft {
        let path = "\(root)/\(Self.unfinished)/\(FileSystem.uniqueName())"
        let file: OpenFile
        do throws(SystemFailure) { file = try OpenFile(creating: path) } catch  where error.isMissing {
            _ = try FileSystem.makeDirectory("\(root)/\(Self.unfinished)")
            file = try OpenFile(creating: path)
        }
        do {
            let digest = try Self.copy(blob.content, to: file)
            file.startWriting()
            return Draft(
                path: path, blob: blob, file: file,
                stored: StoredBlob(location: location, bytes: blob.content.length, digest: digest))
        } catch {
            _ = try? FileSystem.remove(path)
            throw error
        }
    }

    /// Reads a slice once: its digest, and its bytes into `target`.
    private static func copy(_ slice: FileSlice, to target: OpenFile?) throws(SystemFailure) -> SHA256Digest {
        let hash = SHA256()
        var done = 0
        while done < slice.length {
            let bytes = try slice.file.bytes(at: slice.offset + done, count: min(256 << 10, slice.length - done))
            guard !bytes.isEmpty else { throw SystemFailure.shortRead(of: "a blob") }
            bytes.withUnsafeBytes { hash.update($0) }
            try target?.append(bytes)
            done += bytes.count
        }
        return hash.finish()
    }

    private func writing<Value>(_ path: String, _ work: () throws(SystemFailure) -> Value) throws(StoreFailure) -> Value
    {
        do { return try work() } catch {
            // One place may be in disorder for ever: only where the store itself is at fault may all jobs wait for it.
            let isOurs = [root, "\(root)/\(Self.unfinished)"].allSatisfy(FileSystem.isWritableDirectory)
            let failure = Self.unwritable(path, error)
            if case .unwritable = failure, isOurs { throw .obstructed(path: path, reason: error.description) }
            throw failure
        }
    }

    static func unwritable(_ path: String, _ failure: SystemFailure) -> StoreFailure {
        if failure.isOutOfSpace { return .full(path: path) }
        return failure.isExhaustion
            ? .exhausted(path: path, reason: failure.description) : .unwritable(path: path, reason: failure.description)
    }

    static func unreadable(_ path: String, _ failure: SystemFailure) -> StoreFailure {
        failure.isExhaustion
            ? .exhausted(path: path, reason: failure.description) : .unreadable(path: path, reason: failure.description)
    }
}
