package import Canonical
package import ImageModel
package import Ports
package import Records
internal import SQLite

/// An index file that `mezzotint topics restore` reads. A damaged file stays in place.
package final class SavedIndex {
    package let path: String
    package let checkpoint: IndexCheckpoint?
    package let progress: ProgressRow?
    /// nil: it was retired.
    private var file: IndexFile?

    package init(_ path: String, of partition: PartitionID) throws(IndexFailure) {
        let opened: IndexFile.Opened
        do throws(SQLiteFailure) { opened = try IndexFile.open(path, cacheBytes: 512 << 10) } catch {
            throw IndexFailure(error, path)
        }
        switch opened {
        case .sound(let file, let checkpoint, let progress):
            (self.path, self.file, self.checkpoint) = (path, file, checkpoint)
            self.progress = SQLiteVariantIndexes.row(progress, partition)
        case .unfit(let why): throw .unavailable(path: path, reason: why)
        }
    }

    /// Rows of some sources. Places count from 1, and stay as long as rows are only changed.
    package struct Page: Sendable {
        package var snapshots: [SourceSnapshot] = []
        /// Rows that cannot be read, and are left out.
        package var damaged = 0
        /// Place of the last row, damaged or not; nil: there is none.
        package var end: Int64?
    }

    /// Rows of the sources after a place, in order of place.
    package func page(after place: Int64, limit: Int) throws(IndexFailure) -> Page {
        do throws(SQLiteFailure) { return try file?.page(after: place, limit: limit) ?? Page() } catch {
            throw IndexFailure(error, path)
        }
    }

    /// All rows of a source. nil: they are damaged.
    package func snapshot(of source: SourceKey) throws(IndexFailure) -> SourceSnapshot? {
        do throws(SQLiteFailure) { return try file?.find(source)?.snapshot } catch { throw IndexFailure(error, path) }
    }

    /// Progress of its table of parked jobs; nil: no record of `parked` was applied.
    package var parkedCheckpoint: IndexCheckpoint? { file?.parked.checkpoint }

    /// Some parked jobs. Places count from 1.
    package struct ParkedPage: Sendable {
        package var rows: [ParkedRow] = []
        /// Rows that cannot be read, and are left out.
        package var damaged = 0
        /// Place of the last row, damaged or not; nil: there is none.
        package var end: Int64?
    }

    /// Parked jobs after a place, in order of place.
    package func parked(after place: Int64, limit: Int) throws(IndexFailure) -> ParkedPage {
        do throws(SQLiteFailure) { return try file?.parked.page(after: place, limit: limit) ?? ParkedPage() } catch {
            throw IndexFailure(error, path)
        }
    }

    /// Renames the file, because its rows were published.
    package func retire() {
        guard file != nil else { return }
        file = nil
        IndexFile.moveAway(path, as: ".restored")
    }
}
