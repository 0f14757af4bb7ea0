package import Canonical
internal import Clocks
package import ImageModel
package import Ports
internal import Posix
package import Records
internal import SQLite

/// Variants and sources of one partition in one SQLite file: a fold of the changelog that may be deleted at any time.
///
/// The file is created for the first row. Most partitions of a young log have no rows, and 256 files took five seconds
/// to create and 38 MiB to keep open. Until then the checkpoint is in memory, and a restarted worker reads the few
/// records before it.
///
/// - Failure: damage found while reading puts the file aside at once, so that opening it again gives an empty index.
package final class SQLiteVariantIndex: VariantIndex {
    private let path: String
    private(set) var file: IndexFile?
    /// Progress in `parked` before the file is created.
    var earlyParked: IndexCheckpoint?
    package private(set) var checkpoint: IndexCheckpoint?
    package private(set) var progress: ProgressRow?
    /// Makes the file that is not there yet; nil once it is made, or closed.
    private var make: (() throws(SQLiteFailure) -> IndexFile.Opened)?
    /// First position of an index without a file.
    private var firstPosition: Int64?

    /// Most records that are read again after a restart because there is no file.
    private static let memoryRecords: Int64 = 1_024

    init(_ path: String, _ file: IndexFile, _ checkpoint: IndexCheckpoint?, _ progress: ProgressRow?) {
        (self.path, self.file, self.checkpoint, self.progress) = (path, file, checkpoint, progress)
    }

    /// Starts without a file.
    init(_ path: String, make: @escaping () throws(SQLiteFailure) -> IndexFile.Opened) {
        (self.path, self.make) = (path, make)
    }

    package func isEmpty() throws(IndexFailure) -> Bool {
        if make != nil { return true }
        return try using { (file) throws(SQLiteFailure) in
            try file.connection.number("SELECT EXISTS (SELECT 1 FROM sources)") == 0
        }
    }

    package func snapshot(of source: SourceKey) throws(IndexFailure) -> SourceSnapshot {
        if make != nil { return SourceSnapshot() }
        return try using { (file) throws(SQLiteFailure) in try file.find(source)?.snapshot }
    }

    package func packedSnapshots(of sources: some Sequence<SourceKey>) throws(IndexFailure) -> PackedSnapshots {
        if make != nil {
            let none = Dictionary(sources.map { ($0, SourceSnapshot()) }) { one, _ in one }
            return { none }
        }
        let rows = try using { (file) throws(SQLiteFailure) in try file.rows(of: sources) }
        return { rows.snapshots }
    }

    package func apply(
        _ changes: [IndexChange], progress: ProgressRow?, upTo position: Int64, epoch: Int64, isOpened: Bool,
        fingerprints: ChangelogFingerprints?
    ) throws(IndexFailure) {
        let checkpoint = IndexCheckpoint(
            position: position, epoch: epoch, isOpened: isOpened, at: SystemTime.wall, fingerprints: fingerprints)
        let progress = progress ?? (make == nil ? nil : self.progress)
        if make != nil {
            let first = firstPosition ?? position
            guard !changes.isEmpty || position - first >= Self.memoryRecords else {
                (self.checkpoint, self.progress, firstPosition) = (checkpoint, progress, first)
                return
            }
            try makeFile()
        }
        _ = try using { (file) throws(SQLiteFailure) in
            try file.connection.transaction { () throws(SQLiteFailure) -> Bool? in
                var batch = IndexBatch()
                for change in changes {
                    guard try batch.apply(change, file) else { return nil }
                }
                for (source, found) in batch.found { try file.save(found, of: source) }
                if let progress {
                    file.setProgress.bind(1, progress.json)
                    try file.setProgress.run()
                }
                file.setPosition.bind(1, position)
                file.setPosition.bind(2, epoch)
                file.setPosition.bind(3, checkpoint.at.milliseconds)
                if let fingerprints {
                    file.setPosition.bind(4, fingerprints.packed)
                } else {
                    file.setPosition.bindNull(4)
                }
                file.setPosition.bind(5, isOpened ? 1 : 0)
                try file.setPosition.run()
                return true
            }
        }
        (self.checkpoint, self.progress) = (checkpoint, progress ?? self.progress)
    }

    /// Whether there is a file, or was one before `close`.
    var hasFile: Bool { make == nil }

    /// Creates the file that an index without rows does not have.
    func makeFile() throws(IndexFailure) {
        guard let make else { return }
        file = try made(make)
        self.make = nil
    }

    /// Creates a new file. A file that appeared there meanwhile is not this worker's index.
    private func made(_ make: () throws(SQLiteFailure) -> IndexFile.Opened) throws(IndexFailure) -> IndexFile {
        let reason: String
        do throws(SQLiteFailure) {
            switch try make() {
            case .sound(let file, nil, nil): return file
            case .sound: reason = "a file with rows was put there"
            case .unfit(let why): reason = why
            }
        } catch {
            guard error.isCorrupt else { throw IndexFailure(error, path) }
            reason = error.description
        }
        throw moveAway(reason)
    }

    package func wipe() throws(IndexFailure) {
        if make == nil { try wipeFile() }
        (checkpoint, progress, firstPosition) = (nil, nil, nil)
    }

    private func wipeFile() throws(IndexFailure) {
        _ = try using { (file) throws(SQLiteFailure) -> Bool? in
            try file.connection.transaction { () throws(SQLiteFailure) in
                try file.connection.execute("DELETE FROM sources; DELETE FROM position; DELETE FROM progress")
            }
            return true
        }
    }

    package func moveAway() throws(IndexFailure) {
        close()
        var (suffix, number) = (SQLiteVariantIndexes.mismatched, 1)
        while FileSystem.identity(of: path + suffix) != nil {
            number += 1
            suffix = "\(SQLiteVariantIndexes.mismatched)\(number)"
        }
        IndexFile.moveAway(path, as: suffix)
    }

    package func close() { (file, make) = (nil, nil) }

    /// - Parameter body: returns nil for a damaged row.
    func using<Result>(_ body: (IndexFile) throws(SQLiteFailure) -> Result?) throws(IndexFailure) -> Result {
        guard let file else { throw .unavailable(path: path, reason: "it is closed") }
        let reason: String
        do throws(SQLiteFailure) {
            if let result = try body(file) { return result }
            reason = "a row is not as it was written"
        } catch {
            guard error.isCorrupt else { throw IndexFailure(error, path) }
            reason = error.description
        }
        throw moveAway(reason)
    }

    private func moveAway(_ reason: String) -> IndexFailure {
        close()
        IndexFile.moveAway(path)
        return .corrupt(path: path, reason: reason)
    }
}
