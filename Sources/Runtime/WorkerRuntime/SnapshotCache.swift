internal import Canonical
internal import Clocks
internal import ImageModel
internal import Jobs
internal import Partition
internal import Ports
internal import Records
internal import VariantSpec

/// Cache of recent look-ups, so that jobs that come in a burst for one source cost one range read and one check of each
/// file.
///
/// A look-up that began after a record was appended is as good for it as a new one. The record cannot know which of the
/// two came first. Rows that are applied meanwhile end it (`forget`).
struct SnapshotCache {
    struct Look: Sendable {
        /// All rows, without those of `asked` whose blobs are missing.
        var snapshot: SourceSnapshot
        var asked: [VariantSpec]
        /// Start of the look-up.
        let at: Moment
    }

    private var recent: [SourceKey: Look] = [:]
    /// Look-ups of the previous generation. Those that are not requested again are dropped with it.
    private var older: [SourceKey: Look] = [:]
    /// Look-ups for a batch of records, made ahead of its jobs. Sources that come once are dropped with the batch.
    private var ahead: [SourceKey: Look] = [:]
    private var seen = SeenBefore()
    /// Sources of each topic whose rows have changed since look-ups for a batch of its records began.
    private var changed: [Topic: Set<SourceKey>] = [:]
    /// Start of the last look-up.
    private var last = Instant.distantPast

    /// Maximum sources of one generation, as in a batch of records.
    private static let limit = 256
    /// Maximum age of a look-up, which limits the effect of a producer's slow clock.
    fileprivate static let age = Duration.seconds(1)

    /// Stored rows of the pending job's source, without the wanted variants whose blobs are missing.
    mutating func snapshot(
        for pending: PendingJob, at now: Moment, isGone: (String, Int) -> Bool,
        read: () throws(IndexFailure) -> SourceSnapshot
    ) throws(IndexFailure) -> SourceSnapshot {
        let source = pending.job.source
        var look: Look
        // The batch was read before the look-up began, even if its producer's clock differs.
        if let known = ahead[source], known.isYoung(at: now) {
            look = known
            if seen.note(source.word) { keep(look, of: source) }
        } else if let known = recent[source] ?? older[source], known.isGood(for: pending.record, at: now) {
            look = known
        } else {
            look = Look(snapshot: try read(), asked: [], at: now)
            last = now.monotonic
        }
        if look.asked == pending.job.variants { return look.snapshot }
        // The format of `auto` is not chosen yet, so any stored variant may be meant.
        let isOpen = pending.job.variants.contains(where: \.isAuto)
        let wanted = isOpen ? pending.job.variants + look.snapshot.variants.map(\.spec) : pending.job.variants
        let new = wanted.filter { !look.asked.contains($0) }
        guard !new.isEmpty else { return look.snapshot }
        look.snapshot.variants.removeAll { new.contains($0.spec) && isGone($0.location, $0.bytes) }
        // The identical array that other jobs have (`RecentParts`).
        if look.asked.isEmpty, !isOpen { look.asked = wanted } else { look.asked += new }
        ahead[source] = nil
        keep(look, of: source)
        return look.snapshot
    }

    private mutating func keep(_ look: Look, of source: SourceKey) {
        last = max(last, look.at.monotonic)
        if recent.count >= Self.limit { (older, recent) = (recent, Dictionary(minimumCapacity: Self.limit)) }
        recent[source] = look
    }

    /// Begins look-ups for a batch of records. Returns the sources without a look-up that is good for them.
    mutating func beginAhead(_ topic: Topic, _ records: [Record], at now: Moment) -> Set<SourceKey> {
        changed[topic] = []
        var sources: Set<SourceKey> = []
        for record in records {
            guard case .job(let source)? = RecordKey(record.key), !sources.contains(source) else { continue }
            if let known = recent[source] ?? older[source], known.isGood(for: record, at: now) { continue }
            sources.insert(source)
        }
        return sources
    }

    /// Sets the look-ups for the batch's jobs, which are taken next, except those whose rows changed meanwhile.
    mutating func useAhead(_ topic: Topic, _ looks: [SourceKey: Look]) {
        guard let changed = changed.removeValue(forKey: topic) else { return }
        ahead = looks
        for source in changed { ahead[source] = nil }
    }

    mutating func endAhead() { ahead = [:] }

    /// Drops rows when the burst is over.
    mutating func tick(_ now: Instant) {
        if now - last > Self.age, !recent.isEmpty || !older.isEmpty { (recent, older) = ([:], [:]) }
    }

    /// Drops the look-ups of a source whose rows have changed.
    mutating func forget(_ source: SourceKey) {
        (recent[source], older[source], ahead[source]) = (nil, nil, nil)
        for topic in changed.keys { changed[topic]?.insert(source) }
    }
}

extension SnapshotCache.Look {
    fileprivate func isGood(for record: Record, at now: Moment) -> Bool {
        record.timestamp < at.wall && isYoung(at: now)
    }

    fileprivate func isYoung(at now: Moment) -> Bool { now.monotonic - at.monotonic < SnapshotCache.age }
}
