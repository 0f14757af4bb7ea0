package import Ports
package import Posix
package import Records
internal import SQLite

/// The indexes of a worker: one SQLite file for each partition, in one folder.
package struct SQLiteVariantIndexes: VariantIndexes {
    private let folder: String
    private let cacheBytes: Int

    /// - Parameter cacheBytes: bytes of pages kept in memory for each partition; the system's page cache does the rest.
    package init(_ folder: String, cacheBytes: Int = 512 << 10) {
        (self.folder, self.cacheBytes) = (folder, cacheBytes)
    }

    package func open(_ partition: PartitionID) throws(IndexFailure) -> (index: any VariantIndex, rebuilt: String?) {
        let path = "\(folder)/\(partition.number).sqlite"
        do throws(SystemFailure) { try Folder.makePrivate(folder) } catch {
            throw error.isOutOfSpace ? .full(path: folder) : .unavailable(path: folder, reason: error.description)
        }
        if FileSystem.identity(of: path) == nil, FileSystem.isWritableDirectory(folder) {
            // A WAL without its file belongs to another one.
            IndexFile.remove(path)
            let cacheBytes = cacheBytes
            let make = { () throws(SQLiteFailure) in try IndexFile.open(path, cacheBytes: cacheBytes) }
            return (SQLiteVariantIndex(path, make: make), nil)
        }
        let reason: String
        do throws(SQLiteFailure) {
            switch try IndexFile.open(path, cacheBytes: cacheBytes) {
            case .sound(let file, let checkpoint, let progress):
                return (SQLiteVariantIndex(path, file, checkpoint, Self.row(progress, partition)), nil)
            case .unfit(let why): reason = why
            }
        } catch {
            guard error.isCorrupt else { throw IndexFailure(error, path) }
            reason = error.description
        }
        IndexFile.moveAway(path)
        do throws(SQLiteFailure) {
            if case .sound(let file, let checkpoint, _) = try IndexFile.open(path, cacheBytes: cacheBytes) {
                let rebuilt = "\(path) was renamed to \(path).damaged and is rebuilt from the changelog: \(reason)"
                return (SQLiteVariantIndex(path, file, checkpoint, nil), rebuilt)
            }
        } catch { throw IndexFailure(error, path) }
        throw .unavailable(path: path, reason: "it cannot be rebuilt (\(reason))")
    }

    /// Suffix of files with rows of another changelog.
    static let mismatched = ".mismatched"

    /// Index files below a folder, also those of other changelogs (`mismatched`).
    package static func files(
        below folder: String, in isMeant: (_ folder: String) -> Bool = { _ in true }
    ) throws(SystemFailure) -> [(path: String, partition: PartitionID)] {
        var found: [(path: String, partition: PartitionID)] = []
        for name in try FileSystem.names(in: folder).sorted() where !name.hasPrefix(".") {
            let path = "\(folder)/\(name)"
            if Folder.isFolder(path), isMeant(name) { found += try files(below: path, in: isMeant) }
            let parts = name.split(separator: ".", maxSplits: 1)
            guard let number = parts.first.flatMap({ Int32($0) }), let kind = parts.last,
                kind == "sqlite" || kind.hasPrefix("sqlite\(mismatched)"), !kind.hasSuffix("-wal"),
                !kind.hasSuffix("-shm")
            else { continue }
            found.append((path, PartitionID(number)))
        }
        return found
    }

    /// A damaged one is as none: what it would spare is done again.
    static func row(_ json: [UInt8]?, _ partition: PartitionID) -> ProgressRow? {
        json.flatMap { ProgressRow(partition: partition, stored: $0) }
    }
}

extension IndexFailure {
    /// Maps SQLite's errors. If a disk has no room for the file's name, SQLite reports that it cannot open it. If a
    /// disk fills up while the WAL is created, SQLite reports that it cannot write.
    init(_ failure: SQLiteFailure, _ path: String) {
        let mayBeFull = failure.isInputOutput || failure.isUnopened
        let isFull = failure.isFull || mayBeFull && FileSystem.isFull(at: path)
        self = isFull ? .full(path: path) : .unavailable(path: path, reason: failure.description)
    }
}
