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
///
/// Which files were there is kept for more sources than their rows are: it takes little room, and the looks at files are
/// the largest part of a stored job whose source comes again only after many others.
struct SnapshotCache {
    private struct Entry {
        /// All rows, less those of `asked` whose blobs are gone.
        var snapshot: SourceSnapshot
        var asked: [VariantSpec]
        /// When the look began.
        let at: Moment
    }

    private struct Sighting {
        /// When the earliest of the looks began.
        let at: Moment
        /// Of the first rows of the source, in the index's order, those whose files were there.
        var present: UInt64 = 0
    }

    private var recent: [SourceKey: Entry] = [:]
    /// Of the generation before: what nobody asks for again goes with it.
    private var older: [SourceKey: Entry] = [:]
    /// Of two generations, too.
    private var sighted: (recent: [SourceKey: Sighting], older: [SourceKey: Sighting]) = ([:], [:])
    /// When the last look began, monotonic milliseconds.
    private var last: Int64 = 0

    /// Sources of one generation: a slice of records has no more.
    private static let limit = 256
    private static let sightedLimit = 4_096
    /// In milliseconds; bounds what a producer's slow clock can do.
    private static let age: Int64 = 1_000

    /// What is stored of the pending job's source, less the wanted variants whose blobs are gone.
    mutating func snapshot(
        for pending: PendingJob, at now: Moment, isGone: (String, Int) -> Bool,
        read: () throws(IndexFailure) -> SourceSnapshot
    ) throws(IndexFailure) -> SourceSnapshot {
        let source = pending.job.source
        var entry: Entry
        func isGood(_ at: Moment) -> Bool {
            pending.record.timestamp < at.wall && now.monotonic - at.monotonic < Self.age
        }
        if let known = recent[source] ?? older[source], isGood(known.at) {
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
        if entry.asked.isEmpty {
            let known = sighted.recent[source] ?? sighted.older[source]
            var sighting = known.flatMap { isGood($0.at) ? $0 : nil } ?? Sighting(at: now)
            entry.snapshot.variants.removeAll(new, isGone, &sighting.present)
            if sighted.recent.count >= Self.sightedLimit {
                sighted = (Dictionary(minimumCapacity: Self.sightedLimit), sighted.recent)
            }
            sighted.recent[source] = sighting
        } else {
            entry.snapshot.variants.removeAll { new.contains($0.spec) && isGone($0.location, $0.bytes) }
        }
        // The very same array as the next jobs of a burst have.
        if entry.asked.isEmpty, !isOpen { entry.asked = wanted } else { entry.asked += new }
        if recent.count >= Self.limit { (older, recent) = (recent, Dictionary(minimumCapacity: Self.limit)) }
        recent[source] = entry
        return entry.snapshot
    }

    /// Rows are let go when the burst is over. `now` is monotonic.
    mutating func tick(_ now: Int64) {
        guard now - last > Self.age, !sighted.recent.isEmpty else { return }
        (recent, older, sighted) = ([:], [:], ([:], [:]))
    }

    /// Rows of the source have changed.
    mutating func forget(_ source: SourceKey) {
        (recent[source], older[source]) = (nil, nil)
        (sighted.recent[source], sighted.older[source]) = (nil, nil)
    }
}

extension [VariantRow] {
    /// Removes those of `specs` whose files are gone, and notes which are not.
    fileprivate mutating func removeAll(
        _ specs: [VariantSpec], _ isGone: (String, Int) -> Bool, _ present: inout UInt64
    ) {
        var bit: UInt64 = 1
        // Nothing is written where nothing is gone: a copy of all rows would be.
        var gone: [VariantSpec] = []
        for row in self {
            defer { bit <<= 1 }
            guard specs.contains(row.spec), present & bit == 0 else { continue }
            if isGone(row.location, row.bytes) { gone.append(row.spec) } else { present |= bit }
        }
        if !gone.isEmpty { removeAll { gone.contains($0.spec) } }
    }
}
