package import Ports
internal import Posix
package import Records
internal import Synchronization

/// Identifies the store by a file in its folder, so that another folder mounted or created at its path is not taken for
/// it.
///
/// The originals' folder has the same file, since it may be on another disk. A file in the store notes that the
/// originals' folder received the identity, because early stores had none there.
extension FileStore {
    package func sight() async throws(StoreFailure) -> StoreSight {
        try await pool.run { [self] () throws(StoreFailure) in
            do throws(SystemFailure) {
                // A disk may have folders of its own next to those of blobs, such as lost+found.
                let names = try FileSystem.names(in: root)
                let isEmpty = !names.contains { $0.utf8.count == 2 && $0 != ".." }
                // Read in this order: a worker that adopts the store meanwhile writes the originals' identity last.
                let (beside, own) = (try shown(in: originals), try shown(in: variants))
                let isWhole = beside == own || beside == nil && !(own != nil && names.contains(Self.givenFile))
                return StoreSight(
                    place: .folder(root), identity: own, isEmpty: isEmpty,
                    mismatchedPart: isWhole ? nil : StoreSight.Part(place: .folder(originals.root), identity: beside))
            } catch  where error.isMissing {
                return StoreSight(place: .folder(root), identity: nil, isEmpty: true)
            } catch { throw Self.unreadable(root, error, isWhole: true) }
        }
    }

    package func adopt() async throws(StoreFailure) -> StoreIdentity {
        try await pool.run { [self] () throws(StoreFailure) in
            if let absence = absence(of: variants) { throw absence }
            // Each partition asks for it, and each file costs two syncs of the disk.
            if let known = adopted.withLock({ $0 }), isGiven(known) { return known }
            let identity: StoreIdentity
            do throws(SystemFailure) {
                if let shown = try shown(in: variants) {
                    identity = shown
                } else {
                    var random = SystemRandomNumberGenerator()
                    identity = try give(StoreIdentity(drawnFrom: &random), to: variants)
                }
            } catch { throw Self.unwritable(root, error) }
            do throws(SystemFailure) {
                // The identity of another store, which the operator chose to replace.
                if let other = try shown(in: originals), other != identity {
                    _ = try FileSystem.remove("\(originals.root)/\(Self.identityFile)")
                }
                _ = try give(identity, to: originals)
                _ = try give(identity, to: variants, as: Self.givenFile)
            } catch { throw Self.unwritable(originals.root, error) }
            adopted.withLock { $0 = identity }
            return identity
        }
    }

    package var absence: StoreFailure? { absence(of: variants) ?? absence(of: originals) }

    /// The reason why none of these blobs can be put or read. Each verb checks the folders that it uses.
    func absence(at locations: some Sequence<String>) -> StoreFailure? {
        absence(of: variants) ?? (locations.contains(where: Self.isOriginal) ? absence(of: originals) : nil)
    }

    private func absence(of folder: BlobFolder) -> StoreFailure? {
        guard let expected = adopted.withLock({ $0 }) else { return nil }
        do throws(SystemFailure) {
            let found = try shown(in: folder)
            return found == expected ? nil : .mismatched(.folder(folder.root), expected: expected, found: found)
        } catch { return Self.unreadable(folder.root, error, isWhole: true) }
    }

    /// Whether both folders have the identity, and the store has the note of the originals' one.
    private func isGiven(_ identity: StoreIdentity) -> Bool {
        do throws(SystemFailure) {
            guard try shown(in: variants) == identity, try shown(in: originals) == identity else { return false }
            return try FileSystem.file(at: "\(root)/\(Self.givenFile)") != nil
        } catch { return false }
    }

    /// Identity of a folder; nil if the folder has none, or its file is not a valid one.
    private func shown(in folder: BlobFolder) throws(SystemFailure) -> StoreIdentity? {
        do throws(SystemFailure) {
            let bytes = try OpenFile(reading: "\(folder.root)/\(Self.identityFile)").bytes(at: 0, count: 64)
            return StoreIdentity(String(decoding: bytes, as: UTF8.self).filter { !$0.isNewline })
        } catch  where error.isMissing { return nil }
    }

    /// Writes the identity under another name and links it, so that the first writer wins and no reader sees half a
    /// file. Returns the identity that the folder then has.
    private func give(
        _ identity: StoreIdentity, to folder: BlobFolder, as name: String = identityFile
    ) throws(SystemFailure) -> StoreIdentity {
        let path = "\(folder.root)/\(name)"
        try folder.make()
        let (draft, file) = try folder.newDraft()
        defer { _ = try? FileSystem.remove(draft) }
        try file.append(Array("\(identity)\n".utf8))
        try file.sync()
        _ = try FileSystem.link(draft, as: path)
        try FileSystem.syncDirectory(folder.root)
        guard let shown = try shown(in: folder) else { throw SystemFailure("read", on: path, code: 5) }
        return shown
    }

    private static let identityFile = ".identity"
    /// File which notes that the originals' folder has received the identity.
    private static let givenFile = ".identity.originals"
}
