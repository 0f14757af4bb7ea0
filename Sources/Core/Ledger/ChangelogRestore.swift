package import Canonical
package import Clocks
package import ImageModel
package import Ports
package import Records
package import VariantSpec

/// What the changelog of a partition holds, and what indexes hold beside it: by that a changelog that was recreated gets its
/// rows again.
///
/// Rows that it has stay as they are, so a restore that was interrupted is simply run again. The epoch row comes last: until
/// then no worker takes the partition up.
package struct ChangelogRestore: Sendable {
    /// An index file of the partition.
    package struct Candidate: Sendable, Hashable {
        package let path: String
        package let checkpoint: IndexCheckpoint
        /// What its rows are bound to.
        package let store: StoreIdentity?

        package init(path: String, checkpoint: IndexCheckpoint, store: StoreIdentity?) {
            (self.path, self.checkpoint, self.store) = (path, checkpoint, store)
        }

        /// Epochs begin again in a recreated changelog; the time at which brokers appended the last row that was folded does not.
        /// In one changelog both say the same.
        fileprivate func isOlder(than other: Candidate) -> Bool { rank < other.rank }
        private var rank: (WallTime, Int64, Int64) {
            let last = checkpoint.anchors?.newestFirst.first?.timestamp ?? .distantPast
            return (last, checkpoint.epoch, checkpoint.position)
        }
    }

    package enum Verdict: Sendable, Hashable {
        /// Its rows are published.
        case newest
        case older
        /// It is of this changelog, which has its rows.
        case known
        /// Its rows name files of another store.
        case ofAnotherStore
        /// Compaction took away the rows by which this changelog would be known.
        case undecided
    }

    private let partition: PartitionID
    private let candidates: [Candidate]
    private let anchored: Set<Int64>
    private var times: [Int64: WallTime] = [:]
    private var first: LogAnchor?
    private var keys: Set<[UInt8]> = []

    package init(_ partition: PartitionID, from candidates: [Candidate]) {
        (self.partition, self.candidates) = (partition, candidates)
        anchored = Set(candidates.lazy.flatMap { $0.checkpoint.anchors?.newestFirst ?? [] }.map(\.offset))
    }

    /// The changelog's next record; all are read before anything is asked.
    package mutating func read(_ record: Record) {
        keys.insert(record.key)
        first = first ?? LogAnchor(offset: record.offset, timestamp: record.timestamp)
        if anchored.contains(record.offset) { times[record.offset] = record.timestamp }
    }

    /// - Parameters:
    ///   - end: the changelog's.
    ///   - store: the workers'.
    package func verdicts(end: Int64, store: StoreIdentity?) -> [(candidate: Candidate, verdict: Verdict)] {
        var verdicts = candidates.map { candidate -> (candidate: Candidate, verdict: Verdict) in
            if let bound = candidate.store, bound != store { return (candidate, .ofAnotherStore) }
            return (candidate, isFolded(by: candidate.checkpoint, end: end).map { $0 ? .known : .older } ?? .undecided)
        }
        let older = verdicts.indices.filter { verdicts[$0].verdict == .older }
        if let newest = older.max(by: { verdicts[$0].candidate.isOlder(than: verdicts[$1].candidate) }) {
            verdicts[newest].verdict = .newest
        }
        return verdicts
    }

    /// Whether the index is of this changelog; nil: nothing tells.
    private func isFolded(by checkpoint: IndexCheckpoint, end: Int64) -> Bool? {
        if checkpoint.position > end { return false }
        let anchors = checkpoint.anchors?.newestFirst ?? []
        if let anchor = anchors.first(where: { times[$0.offset] != nil }) {
            return times[anchor.offset] == anchor.timestamp
        }
        guard let first, let last = anchors.first else { return nil }
        return first.offset <= last.offset && first.timestamp > last.timestamp ? false : nil
    }

    /// Whether an owner, or a restore that came to its end, has opened the changelog.
    package var isOpened: Bool { keys.contains(RecordKey.epoch(partition).bytes) }

    package func has(_ source: SourceKey, _ spec: VariantSpec) -> Bool {
        keys.contains(RecordKey.variant(source, spec).bytes)
    }

    /// Rows of an index that the changelog lacks.
    package func missing(from snapshot: SourceSnapshot) -> [NewRecord] {
        let rows =
            [snapshot.source?.newRecord(partition: partition)].compactMap(\.self)
            + snapshot.variants.map { $0.newRecord(partition: partition) }
        return rows.filter { !keys.contains($0.key) }
    }

    /// What ends a restore: how far owners had come, as the index was told, and the row by which workers take the partition up.
    /// It opens no owner's epoch, so rows of every owner count behind it.
    package func end(_ progress: ProgressRow?, at now: WallTime) -> [NewRecord] {
        var progress = progress
        // That owner was stopped, and died of no job.
        progress?.isClean = true
        let opening = EpochRow(
            partition: partition, epoch: 0, owner: "mezzotint topics restore", isClean: true, at: now)
        return [progress?.newRecord(), opening.newRecord()].compactMap(\.self).filter { !keys.contains($0.key) }
    }
}
