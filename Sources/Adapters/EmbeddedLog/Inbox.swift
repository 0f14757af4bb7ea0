internal import Clocks
internal import Ports
internal import Records
internal import Synchronization

/// What waits for the writer: batches to append, and offsets to commit that came since the last one.
///
/// - Concurrency: filled from anywhere, emptied by the writer's thread.
final class Inbox: Sendable {
    struct Batch: Sendable {
        let rows: [PendingRow]
        let answer: @Sendable ([AppendResult]) -> Void

        var bytes: Int { rows.reduce(0) { $0 + $1.bytes } }
        /// What publishers append; what is taken back, or said of a job that is done, makes room.
        var isPublished: Bool { rows.contains { Topic.published.contains($0.place.topic) } }
    }

    /// What is committed together.
    struct Group {
        var batches: [Batch] = []
        var committedOffsets: [TablePlace: Int64] = [:]
        var isEmpty: Bool { batches.isEmpty && committedOffsets.isEmpty }
    }

    /// A group ends here, so that its commit stays within tens of milliseconds.
    private static let mostBytes = 8 << 20
    private static let groupRows = 20_000
    /// How long an offset may wait for appends to go with.
    private static let commitWait = Duration.milliseconds(100)

    private struct Content {
        var batches: [Batch] = []
        var committedOffsets: [TablePlace: Int64] = [:]
        var commitsDue: Instant?
        var isClosed = false
    }
    private let content = Mutex(Content())
    private let groupBytes: Int

    /// - Parameter reserve: of the disk; a commit on a full one must find room in it.
    init(reserve: Int) { groupBytes = reserve == 0 ? Self.mostBytes : min(Self.mostBytes, max(64 << 10, reserve / 8)) }

    /// Rows one after another, none of the pieces larger than a group but where one row is.
    func pieces(of rows: [PendingRow]) -> [[PendingRow]] {
        if rows.reduce(0, { $0 + $1.bytes }) <= groupBytes { return rows.isEmpty ? [] : [rows] }
        var pieces: [[PendingRow]] = []
        var bytes = 0
        for row in rows {
            if pieces.isEmpty || bytes + row.bytes > groupBytes {
                pieces.append([])
                bytes = 0
            }
            pieces[pieces.count - 1].append(row)
            bytes += row.bytes
        }
        return pieces
    }

    /// False when closed.
    func add(_ batch: Batch) -> Bool {
        content.withLock { content in
            if content.isClosed { return false }
            content.batches.append(batch)
            return true
        }
    }

    /// Returns whether the writer must be told when they are due.
    func add(_ committed: Int64, of place: TablePlace, now: Instant) -> Bool {
        content.withLock { content in
            content.committedOffsets[place] = committed
            guard content.commitsDue == nil else { return false }
            content.commitsDue = now + Self.commitWait
            return true
        }
    }

    /// The next group; offsets alone make one when they are due, or when `isForced`.
    func take(now: Instant, isForced: Bool) -> Group {
        content.withLock { content in
            var group = Group()
            var (bytes, rows) = (0, 0)
            let end = content.batches.firstIndex { batch in
                if bytes >= groupBytes || rows >= Self.groupRows { return true }
                for row in batch.rows { bytes += row.bytes }
                rows += batch.rows.count
                return false
            }
            if let end {
                group.batches = Array(content.batches[..<end])
                content.batches.removeFirst(end)
            } else {
                swap(&group.batches, &content.batches)
            }
            if !group.batches.isEmpty || isForced || content.commitsDue.map({ now >= $0 }) ?? false {
                swap(&group.committedOffsets, &content.committedOffsets)
                content.commitsDue = nil
            }
            return group
        }
    }

    /// Offsets of a group that failed: they are tried again, unless newer ones came.
    func putBack(_ committedOffsets: [TablePlace: Int64], due: Instant) {
        content.withLock { content in
            content.committedOffsets.merge(committedOffsets) { newer, _ in newer }
            if !content.committedOffsets.isEmpty { content.commitsDue = content.commitsDue ?? due }
        }
    }

    /// When the writer must look again; nil for never, `distantPast` for now.
    var due: Instant? { content.withLock { $0.batches.isEmpty ? $0.commitsDue : .distantPast } }

    func close() { content.withLock { $0.isClosed = true } }
}
