import Index
import Ledger
import Ports
import Posix
internal import Records

/// One partition of a recreated `parked`, with the jobs that a restore published in it.
struct RestoredParked {
    let partition: PartitionID
    /// The index whose jobs were published.
    private(set) var index: String?
    private(set) var jobs = 0
    /// Sentences about rows that are not published, with the next step.
    private(set) var notes: [String] = []
    /// Indexes of the topic before. Workers would stop the partition because of them.
    private var old: [SavedIndex] = []

    init(_ partition: PartitionID) { self.partition = partition }

    mutating func run(from indexes: [SavedIndex], in log: any Log, store: StoreSight, writes: Bool) async throws {
        let candidates = indexes.compactMap { index in
            index.parkedCheckpoint.map {
                ChangelogRestore.Candidate(path: index.path, checkpoint: $0, store: index.progress?.store)
            }
        }
        if candidates.isEmpty { return }
        let partition = partition
        var topic = ChangelogRestore(partition, from: candidates)
        var fold = ParkedFold()
        let end = try await log.each(.parked, partition) { records in
            for record in records {
                topic.read(record)
                fold.read(record)
            }
        }
        let verdicts = topic.verdicts(end: end, store: store.identity)
        let replaced = verdicts.filter { [.newest, .older].contains($0.verdict) }.map(\.candidate.path)
        old = indexes.filter { replaced.contains($0.path) }
        let newest = verdicts.first { $0.verdict == .newest }?.candidate.path
        guard let source = indexes.first(where: { $0.path == newest }) else { return }
        index = source.path
        let ended = try await log.parkedCompletions(.outcomes, partition, from: source.progress?.answers?[.outcomes] ?? 0)
        // Only rows of an owner's epoch count. Rows of later owners, in higher epochs, still count behind these.
        let epoch = max(1, fold.epoch)
        if fold.epoch == 0, writes {
            let opening = EpochRow(
                partition: partition, epoch: epoch, owner: "mezzotint topics restore", isClean: true, at: SystemTime.wall)
            try await log.publish([opening.newRecord(topic: .parked).announced(in: epoch)])
        }
        var (place, damaged): (Int64, Int) = (0, 0)
        while case let page = try source.parked(after: place, limit: 256), let end = page.end {
            // A job that the topic has, or had, is left to it.
            let rows = page.rows.filter { !topic.has($0.key) && !ended.contains(ParkedKey($0.source, $0.identity)) }
            if writes {
                try await log.publish(
                    rows.map { $0.newRecord(partition: partition, at: SystemTime.wall).announced(in: epoch) })
            }
            jobs += rows.count
            damaged += page.damaged
            place = end
        }
        if damaged > 0 {
            notes.append(
                "\(damaged) parked jobs of \(source.path) are damaged and not published: publish these jobs again.")
        }
    }

    /// Renames the indexes, once they are not needed for rows of `variants` either.
    func retire() { for index in old { index.retire() } }
}
