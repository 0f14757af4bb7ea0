internal import Canonical
internal import Clocks
package import Digest
package import Ports
package import Posix
internal import Records
internal import Synchronization

/// Blobs as files `ab/cd/<source key>/<version>/<leaf>`: variants below one directory, originals below another.
///
/// Web servers read variants. Originals contain the places and names that cameras write, so no other user may read
/// them. Originals that lie among the variants are found there, too.
///
/// A blob appears under its name complete and durable, or not at all. It is written and synced under another name, then
/// linked, and the directories are synced before the put returns. The first put of a name wins.
///
/// - Concurrency: file work runs on dedicated threads; several processes may share a directory.
package final class FileStore: BlobStore {
    let variants: BlobFolder
    let originals: BlobFolder
    var root: String { variants.root }
    let pool: BlockingPool
    /// Has a thread of its own, so that looking up stored blobs does not wait for writes.
    private let looks = BlockingPool("store look", threads: 1)
    /// Speeds up lookups, which are a fifth of a stored job's cost: opening the root is a third of that.
    private let directory = RecentDirectory()
    /// Whether the directory's disk has room for blobs; other programs may need the rest.
    private let hasRoom: @Sendable (_ root: String) -> Bool

    /// The store that rows are bound to, once it is known.
    let adopted = Mutex<StoreIdentity?>(nil)

    /// Opens the store at `root`, and creates it if it does not exist and its disk has room. Removes the files of
    /// interrupted puts that are older than `leftoverAge`.
    ///
    /// - Parameter originals: folder of originals; nil: a hidden folder of the store.
    package init(
        root: String, originals: String? = nil, mode: FileMode = .readable, threads: Int = 4,
        leftoverAge: Duration = .hours(1),
        hasRoom: @escaping @Sendable (_ root: String) -> Bool = { _ in true }
    ) throws(StoreFailure) {
        variants = BlobFolder(root, mode)
        self.originals = BlobFolder(originals ?? "\(root)/.originals", .own)
        self.hasRoom = hasRoom
        pool = BlockingPool("store", threads: threads)
        let old = SystemTime.wall - leftoverAge
        for folder in [variants, self.originals] {
            // The folder becomes private, which would hide the variants from other users.
            if folder.root == self.originals.root, mode != .own, FileSystem.isFolder(root, in: folder.root) {
                throw .unwritable(.folder(folder.root), reason: "it is private, and the store lies in it")
            }
            do throws(SystemFailure) { try folder.open(leftoversUntil: old) } catch  where error.isOutOfSpace {
                // Jobs wait for room, and missing folders are created when the store is adopted.
            } catch {
                throw Self.unwritable(folder.root, error)
            }
        }
    }

    static func isOriginal(_ location: String) -> Bool {
        location.utf8.dropFirst(88).starts(with: "original.".utf8)
    }

    /// Folders that may contain a blob, first the one that it would be put into.
    private func folders(of location: String) -> [BlobFolder] {
        Self.isOriginal(location) ? [originals, variants] : [variants]
    }

    package func put(_ blobs: [NewBlob]) async throws(StoreFailure) -> [StoredBlob] {
        try await pool.run { [self] () throws(StoreFailure) in
            if let absence = absence(at: blobs.lazy.map(\.name.location)) { throw absence }
            return try write(blobs)
        }
    }

    package func open(_ location: String) async throws(StoreFailure) -> OpenFile? {
        guard Self.isValid(location) else { return nil }
        return try await pool.run { [self] () throws(StoreFailure) in
            if let absence = absence(at: [location]) { throw absence }
            return try file(at: location)
        }
    }

    /// Computes the digest on a thread of the store: the cooperative pool must not wait for disks, nor the heap hold
    /// images.
    package func open(
        _ location: String, if isExpected: @escaping @Sendable (SHA256Digest) -> Bool
    ) async throws(StoreFailure) -> OpenFile? {
        guard Self.isValid(location) else { return nil }
        return try await pool.run { [self] () throws(StoreFailure) in
            if let absence = absence(at: [location]) { throw absence }
            do throws(StoreFailure) {
                guard let file = try file(at: location) else { return nil }
                return isExpected(try digest(of: FileSlice(whole: file), at: location)) ? file : nil
            } catch {
                guard case .unreadable = error else { throw error }
                return nil
            }
        }
    }

    package func isGone(_ location: String, bytes: Int) -> Bool? { isKnownGone(location, bytes) }

    private func isKnownGone(_ location: String, _ bytes: Int) -> Bool {
        guard Self.isValid(location) else { return true }
        if let found = directory.file(at: location, below: root), found.isRegular, found.length == bytes {
            return false
        }
        // Checked again by its full path: the cached directory may have been replaced a moment ago.
        return folders(of: location).allSatisfy { isGone(at: $0.path(location), bytes: bytes) }
    }

    package func gone(among blobs: [(location: String, bytes: Int)]) async -> [Int] {
        await looks.run { [self] in blobs.indices.filter { isKnownGone(blobs[$0].location, blobs[$0].bytes) } }
    }

    private func isGone(at path: String, bytes: Int) -> Bool {
        do throws(SystemFailure) {
            guard let found = try FileSystem.file(at: path) else { return true }
            guard !found.isRegular || found.length != bytes else { return false }
            guard absence == nil else { return true }
            _ = try? FileSystem.remove(path)
            return true
        } catch {
            // If the lookup fails, opening the blob reports the error.
            return false
        }
    }

    package func remove(_ location: String) async throws(StoreFailure) {
        guard Self.isValid(location) else { return }
        try await pool.run { [self] () throws(StoreFailure) in
            if let absence = absence(at: [location]) { throw absence }
            for folder in folders(of: location) { try remove(location, from: folder) }
        }
    }

    private func remove(_ location: String, from folder: BlobFolder) throws(StoreFailure) {
        _ = try writing(location, in: folder) { () throws(SystemFailure) in try FileSystem.remove(folder.path(location))
        }
    }

    /// Whether a location has the form of our rows, `ab/cd/<64 digits>/<16 digits>/<leaf>`; no other path in the file
    /// system can be reached. It takes one pass, because a job whose variants are all stored spends more on this than
    /// on its plan.
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

    private func file(at location: String) throws(StoreFailure) -> OpenFile? {
        for folder in folders(of: location) { if let file = try file(at: location, in: folder) { return file } }
        return nil
    }

    private func file(at location: String, in folder: BlobFolder) throws(StoreFailure) -> OpenFile? {
        do { return try OpenFile(reading: folder.path(location)) } catch {
            if error.isMissing { return nil }
            throw Self.unreadable(location, error)
        }
    }

    /// Looks for an existing blob of this name, and reads it once for its digest and to compare it with the new blob. A
    /// damaged one is removed: a blob is a regular file, an original's name contains its digest, and no blob is empty.
    private func existing(_ location: String, insteadOf blob: NewBlob) throws(StoreFailure) -> Placed? {
        for folder in folders(of: location) {
            try writing(location, in: folder) { () throws(SystemFailure) in
                guard let found = try FileSystem.file(at: folder.path(location)), !found.isRegular else { return }
                _ = try FileSystem.remove(folder.path(location))
            }
            guard let file = try file(at: location, in: folder) else { continue }
            let digest = try digest(of: FileSlice(whole: file), at: location)
            let isAnothers = try self.digest(of: blob.content, at: location) != digest
            guard isAnothers, blob.name.isOriginal || file.length == 0 else {
                return Placed(
                    blob: StoredBlob(location: location, bytes: file.length, digest: digest, isAnothers: isAnothers),
                    folder: folder)
            }
            try remove(location, from: folder)
        }
        return nil
    }

    /// A blob, and the folder that has it or will have it.
    private struct Placed {
        let blob: StoredBlob
        let folder: BlobFolder
    }

    private func digest(of slice: FileSlice, at location: String) throws(StoreFailure) -> SHA256Digest {
        do { return try Self.copy(slice, to: nil) } catch { throw Self.unreadable(location, error) }
    }

    /// A blob under its unfinished name.
    private struct Draft {
        let path: String
        let blob: NewBlob
        let file: OpenFile
        let placed: Placed
    }

    private func write(_ blobs: [NewBlob]) throws(StoreFailure) -> [StoredBlob] {
        var drafts: [(draft: Draft, place: Int)] = []
        defer { for (draft, _) in drafts { _ = try? FileSystem.remove(draft.path) } }
        var placed: [Placed] = []
        for blob in blobs {
            let location = blob.name.location
            if let found = try existing(location, insteadOf: blob) {
                placed.append(found)
                continue
            }
            let folder = folders(of: location)[0]
            guard hasRoom(folder.root) else { throw .full(.folder(folder.root)) }
            let draft = try writing(location, in: folder) { () throws(SystemFailure) in
                try self.draft(blob, location, in: folder)
            }
            placed.append(draft.placed)
            drafts.append((draft, placed.count - 1))
        }
        // Directories come first: the files' syncs carry them into the journal.
        for one in placed {
            try writing(one.blob.location, in: one.folder) { () throws(SystemFailure) in
                try one.folder.tree.make(above: one.blob.location)
            }
        }
        for (draft, _) in drafts {
            try writing(draft.placed.blob.location, in: draft.placed.folder) { () throws(SystemFailure) in
                try draft.file.sync()
            }
        }
        for (draft, place) in drafts {
            let (location, folder) = (draft.placed.blob.location, draft.placed.folder)
            let isFirst = try writing(location, in: folder) { () throws(SystemFailure) in
                try FileSystem.link(draft.path, as: folder.path(location))
            }
            guard !isFirst else { continue }
            guard let winner = try existing(location, insteadOf: draft.blob) else {
                throw .obstructed(.folder(location), reason: "it came and went while it was being put")
            }
            placed[place] = winner
        }
        // Existing blobs are synced too: the process that linked them may not have synced yet.
        for one in Dictionary(grouping: placed, by: \.folder.root).values {
            let (folder, locations) = (one[0].folder, one.map(\.blob.location))
            try writing(locations[0], in: folder) { () throws(SystemFailure) in try folder.tree.sync(above: locations) }
        }
        return placed.map(\.blob)
    }

    private func draft(_ blob: NewBlob, _ location: String, in folder: BlobFolder) throws(SystemFailure) -> Draft {
        let (path, file) = try folder.newDraft()
        do {
            let digest = try Self.copy(blob.content, to: file)
            try file.allow(folder.mode)
            file.startWriting()
            let stored = StoredBlob(location: location, bytes: blob.content.length, digest: digest)
            return Draft(path: path, blob: blob, file: file, placed: Placed(blob: stored, folder: folder))
        } catch {
            _ = try? FileSystem.remove(path)
            throw error
        }
    }

    /// Reads a slice once for its digest, and copies its bytes to `target`.
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

    private func writing<Value>(
        _ path: String, in folder: BlobFolder, _ work: () throws(SystemFailure) -> Value
    ) throws(StoreFailure) -> Value {
        do { return try work() } catch {
            // One path may be damaged for ever: all jobs may wait only if the store itself fails.
            let failure = Self.unwritable(path, error)
            if case .unwritable = failure, folder.isWritable {
                throw .obstructed(.folder(path), reason: error.description)
            }
            throw failure
        }
    }

    static func unwritable(_ path: String, _ failure: SystemFailure) -> StoreFailure {
        if failure.isOutOfSpace { return .full(.folder(path)) }
        return failure.isExhaustion
            ? .exhausted(.folder(path), reason: failure.description)
            : .unwritable(.folder(path), reason: failure.description)
    }

    /// - Parameter isWhole: whether the store's folder or identity cannot be read, rather than one file.
    static func unreadable(_ path: String, _ failure: SystemFailure, isWhole: Bool = false) -> StoreFailure {
        let place: StorePlace = isWhole ? .root(path) : .folder(path)
        return failure.isExhaustion
            ? .exhausted(place, reason: failure.description) : .unreadable(place, reason: failure.description)
    }
}
