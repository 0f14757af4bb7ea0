internal import Canonical
internal import ImageModel
internal import Partition
internal import Ports
internal import Records
internal import VariantSpec

/// What is stored of the sources that were looked up a moment ago, so that jobs that came in a burst for one source cost
/// one range read and one look at each file.
///
/// A look that began after a record was appended is as good for it as one now: the record is not told which of the two
/// came first. Rows that are folded meanwhile end it (`forget`).
struct SnapshotCache {
    private struct Entry {
        /// All rows, less those of `asked` whose blobs are gone.
        var snapshot: SourceSnapshot
        var asked: [VariantSpec]
        /// When the look began.
        let at: Moment
    }

    private var recent: [SourceKey: Entry] = [:]
    /// Of the generation before: what nobody asks for again goes with it.
    private var older: [SourceKey: Entry] = [:]
    /// When the last look began, monotonic milliseconds.
    private var last: Int64 = 0

    /// Sources of one generation: a slice of records has no more.
    private static let limit = 256
    /// In milliseconds; bounds what a producer's slow clock can do.
    private static let age: Int64 = 1_000

    /// What is stored of the pending job's source, less the wanted variants whose blobs are gone.
    mutating func snapshot(
        for pending: PendingJob, at now: Moment, isGone: (String, Int) -> Bool,
        read: () throws(IndexFailure) -> SourceSnapshot
    ) throws(IndexFailure) -> SourceSnapshot {
        let source = pending.job.source
        var entry: Entry
        if let known = recent[source] ?? older[source], pending.record.timestamp < known.at.wall,
            now.monotonic - known.at.monotonic < Self.age
        {
            entry = known
        } else {
            entry = Entry(snapshot: try read(), asked: [], at: now)
            last = now.monotonic
        }
        if entry.asked == pending.job.variants { return entry.snapshot }
        // What `auto` becomes is not chosen yet: it may be any of them.
        let isOpen = pending.job.variants.contains(where: \.isAuto)
        let wanted = isOpen ? pending.job.variants + entry.snapshot.variants.map(\.spec) : pending.job.variants
        let new = wanted.filter { !entry.asked.contains($0) }
        guard !new.isEmpty else { return entry.snapshot }
        entry.snapshot.variants.removeAll { new.contains($0.spec) && isGone($0.location, $0.bytes) }
        // The very same array as the next jobs of a burst have.
        if entry.asked.isEmpty, !isOpen { entry.asked = wanted } else { entry.asked += new }
        if recent.count >= Self.limit { (older, recent) = (recent, Dictionary(minimumCapacity: Self.limit)) }
        recent[source] = entry
        return entry.snapshot
    }

    /// Rows are let go when the burst is over. `now` is monotonic.
    mutating func tick(_ now: Int64) {
        if now - last > Self.age, !recent.isEmpty || !older.isEmpty { (recent, older) = ([:], [:]) }
    }

    /// Rows of the source have changed.
    mutating func forget(_ source: SourceKey) { (recent[source], older[source]) = (nil, nil) }
}
