package import Canonical
package import Clocks
package import ImageModel
package import Ports
package import Records
package import VariantSpec

/// Decides which rows of which index a recreated changelog, or `parked`, of one partition gets again.
///
/// Rows that the changelog has stay as they are, so an interrupted restore can be run again. The epoch row comes last, because
/// workers take the partition up as soon as they find it.
package struct ChangelogRestore: Sendable {
    /// An index file of the partition.
    package struct Candidate: Sendable, Hashable {
        package let path: String
        package let checkpoint: IndexCheckpoint
        /// The store that its rows are bound to.
        package let store: StoreIdentity?

        package init(path: String, checkpoint: IndexCheckpoint, store: StoreIdentity?) {
            (self.path, self.checkpoint, self.store) = (path, checkpoint, store)
        }

        /// Two of three decide, because each can be wrong alone. Epochs and positions begin again in a recreated changelog.
        /// Fingerprints of rows that were folded before a rebalance can be missing. Clocks of machines differ.
        fileprivate func isOlder(than other: Candidate) -> Bool {
            let (own, others) = (checkpoint, other.checkpoint)
            return [
                (own.epoch, own.position) < (others.epoch, others.position), fingerprintedAt < other.fingerprintedAt,
                own.at < others.at,
            ].count { $0 } >= 2
        }

        /// When brokers appended the last row by which the index knows its changelog.
        private var fingerprintedAt: WallTime { checkpoint.fingerprints?.newestFirst.first?.timestamp ?? .distantPast }
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
    private let fingerprinted: Set<Int64>
    private var times: [Int64: WallTime] = [:]
    private var first: RecordFingerprint?
    private var keys: Set<[UInt8]> = []

    package init(_ partition: PartitionID, from candidates: [Candidate]) {
        (self.partition, self.candidates) = (partition, candidates)
        fingerprinted = Set(candidates.lazy.flatMap { $0.checkpoint.fingerprints?.newestFirst ?? [] }.map(\.offset))
    }

    /// Takes the changelog's next record. Read all records before you ask for verdicts or rows.
    package mutating func read(_ record: Record) {
        keys.insert(record.key)
        first = first ?? RecordFingerprint(offset: record.offset, timestamp: record.timestamp)
        if fingerprinted.contains(record.offset) { times[record.offset] = record.timestamp }
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

    /// Whether the index is of this changelog; nil: unknown.
    private func isFolded(by checkpoint: IndexCheckpoint, end: Int64) -> Bool? {
        if checkpoint.position > end { return false }
        let fingerprints = checkpoint.fingerprints?.newestFirst ?? []
        // A worker that found the changelog unopened leaves such an index, too.
        if let fingerprint = fingerprints.first(where: { times[$0.offset] != nil }) {
            return times[fingerprint.offset] == fingerprint.timestamp
        }
        if !isOpened { return false }
        guard let first, let last = fingerprints.first else { return nil }
        return first.offset <= last.offset && first.timestamp > last.timestamp ? false : nil
    }

    /// Whether an owner, or a restore that came to its end, has opened the changelog.
    package var isOpened: Bool { keys.contains(RecordKey.epoch(partition).bytes) }

    package func has(_ source: SourceKey, _ spec: VariantSpec) -> Bool { has(.variant(source, spec)) }

    /// Whether the topic has a record of the key, maybe a tombstone.
    package func has(_ key: RecordKey) -> Bool { keys.contains(key.bytes) }

    /// Rows of an index that the changelog lacks.
    package func missing(from snapshot: SourceSnapshot) -> [NewRecord] {
        let rows =
            [snapshot.source?.newRecord(partition: partition)].compactMap(\.self)
            + snapshot.variants.map { $0.newRecord(partition: partition) }
        return rows.filter { !keys.contains($0.key) }
    }

    /// The last rows of a restore: the index's progress row, and the row that lets workers take the partition up. Its epoch is
    /// the least that an owner can have, so rows of every owner count behind it.
    package func end(_ progress: ProgressRow?, at now: WallTime) -> [NewRecord] {
        var progress = progress
        // That owner was stopped; no job crashed it.
        progress?.isClean = true
        let opening = EpochRow(
            partition: partition, epoch: 1, owner: "mezzotint topics restore", isClean: true, at: now)
        return [progress?.newRecord(), opening.newRecord()].compactMap(\.self).filter { !keys.contains($0.key) }
    }
}
