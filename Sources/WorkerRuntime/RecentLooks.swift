internal import Canonical
internal import ImageModel
internal import Partition
internal import Ports
internal import Records
internal import VariantSpec

/// What was looked up of sources a moment ago, so that jobs that came in a burst for one source cost one range read and
/// one look at each file.
///
/// A look that began after a record was appended is as good for it as one now: the record is not told which of the two
/// came first. Rows that are folded meanwhile end it (`forget`).
struct RecentLooks {
    private struct Look {
        /// All rows, less those of `asked` whose blobs are gone.
        var snapshot: SourceSnapshot
        var asked: [VariantSpec]
        /// When it began.
        let at: Moment
    }

    private var looks: [SourceKey: Look] = [:]
    /// When the last began, monotonic milliseconds.
    private var last: Int64 = 0

    /// Sources of one partition; a slice of records has no more. All are let go when there is no room.
    private static let limit = 256
    /// In milliseconds; bounds what a producer's slow clock can do.
    private static let age: Int64 = 1_000

    /// What is stored of the pending job's source, less the wanted variants whose blobs are gone.
    mutating func snapshot(
        for pending: PendingJob, at now: Moment, isGone: (String, Int) -> Bool,
        read: () throws(IndexFailure) -> SourceSnapshot
    ) throws(IndexFailure) -> SourceSnapshot {
        let source = pending.job.source
        var look: Look
        if let recent = looks[source], pending.record.timestamp < recent.at.wall,
            now.monotonic - recent.at.monotonic < Self.age
        {
            look = recent
        } else {
            look = Look(snapshot: try read(), asked: [], at: now)
            last = now.monotonic
        }
        if look.asked == pending.job.variants { return look.snapshot }
        // What `auto` becomes is not chosen yet: it may be any of them.
        let isOpen = pending.job.variants.contains(where: \.isAuto)
        let wanted = isOpen ? pending.job.variants + look.snapshot.variants.map(\.spec) : pending.job.variants
        let new = wanted.filter { !look.asked.contains($0) }
        guard !new.isEmpty else { return look.snapshot }
        look.snapshot.variants.removeAll { new.contains($0.spec) && isGone($0.location, $0.bytes) }
        // The very same array as the next jobs of a burst have.
        if look.asked.isEmpty, !isOpen { look.asked = wanted } else { look.asked += new }
        if looks.count >= Self.limit { looks.removeAll(keepingCapacity: true) }
        looks[source] = look
        return look.snapshot
    }

    /// Rows are let go when the burst is over. `now` is monotonic.
    mutating func tick(_ now: Int64) {
        if !looks.isEmpty, now - last > Self.age { looks = [:] }
    }

    /// Rows of the source have changed.
    mutating func forget(_ source: SourceKey) { looks[source] = nil }
}
