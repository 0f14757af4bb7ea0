package import Records
package import Ports
internal import Posix
internal import Synchronization

/// A file in the store's folder says which store it is: what is mounted or made in its place is not taken for it.
extension FileStore {
    package func sight() async throws(StoreFailure) -> StoreSight {
        try await pool.run { [self] () throws(StoreFailure) in
            do throws(SystemFailure) {
                // Beside the blobs' folders a disk may have some of its own, such as lost+found.
                let names = try FileSystem.names(in: root)
                return StoreSight(
                    place: root, identity: try shown(), isEmpty: !names.contains { $0.utf8.count == 2 && $0 != ".." })
            } catch  where error.isMissing {
                return StoreSight(place: root, identity: nil, isEmpty: true)
            } catch { throw Self.unreadable(root, error) }
        }
    }

    package func adopt() async throws(StoreFailure) -> StoreIdentity {
        try await pool.run { [self] () throws(StoreFailure) in
            if let absence { throw absence }
            let identity: StoreIdentity
            do throws(SystemFailure) {
                if let shown = try shown() { identity = shown } else { identity = try made() }
            } catch { throw Self.unwritable(root, error) }
            adopted.withLock { $0 = identity }
            return identity
        }
    }

    package var absence: StoreFailure? {
        guard let expected = adopted.withLock({ $0 }) else { return nil }
        do throws(SystemFailure) {
            let found = try shown()
            return found == expected ? nil : .foreign(path: root, expected: expected, found: found)
        } catch { return Self.unreadable(root, error) }
    }

    /// nil if there is none, or none that can be told.
    private func shown() throws(SystemFailure) -> StoreIdentity? {
        do throws(SystemFailure) {
            let bytes = try OpenFile(reading: "\(root)/\(Self.identityFile)").bytes(at: 0, count: 64)
            return StoreIdentity(String(decoding: bytes, as: UTF8.self).filter { !$0.isNewline })
        } catch  where error.isMissing { return nil }
    }

    /// Written under another name and linked: the first to do so wins, and nobody sees half of one.
    private func made() throws(SystemFailure) -> StoreIdentity {
        var random = SystemRandomNumberGenerator()
        let identity = StoreIdentity(drawnFrom: &random)
        let path = "\(root)/\(Self.identityFile)"
        try variants.make()
        let (draft, file) = try variants.newDraft()
        defer { _ = try? FileSystem.remove(draft) }
        try file.append(Array("\(identity)\n".utf8))
        try file.sync()
        _ = try FileSystem.link(draft, as: path)
        try FileSystem.syncDirectory(root)
        guard let shown = try shown() else { throw SystemFailure("read", on: path, code: 5) }
        return shown
    }

    private static let identityFile = ".identity"
}
