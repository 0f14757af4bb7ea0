internal import Canonical
internal import Clocks
internal import ImageModel
internal import Jobs
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
    struct Look: Sendable {
        /// All rows, less those of `asked` whose blobs are gone.
        var snapshot: SourceSnapshot
        var asked: [VariantSpec]
        /// When the look began.
        let at: Moment
    }

    private var recent: [SourceKey: Look] = [:]
    /// Of the generation before: what nobody asks for again goes with it.
    private var older: [SourceKey: Look] = [:]
    /// Of the sources of a slice of records, made ahead of its jobs. Those that come once go with the slice.
    private var ahead: [SourceKey: Look] = [:]
    private var seen = SeenBefore()
    /// By topic, the sources whose rows have changed since looks for a slice of its records began.
    private var changed: [Topic: Set<SourceKey>] = [:]
    /// When the last look began.
    private var last = Instant.distantPast

    /// Sources of one generation: a slice of records has no more.
    private static let limit = 256
    /// Bounds what a producer's slow clock can do.
    fileprivate static let age = Duration.seconds(1)

    /// What is stored of the pending job's source, less the wanted variants whose blobs are gone.
    mutating func snapshot(
        for pending: PendingJob, at now: Moment, isGone: (String, Int) -> Bool,
        read: () throws(IndexFailure) -> SourceSnapshot
    ) throws(IndexFailure) -> SourceSnapshot {
        let source = pending.job.source
        var look: Look
        // Its slice was read before the look began, whatever its producer's clock said.
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
        // What `auto` becomes is not chosen yet: it may be any of them.
        let isOpen = pending.job.variants.contains(where: \.isAuto)
        let wanted = isOpen ? pending.job.variants + look.snapshot.variants.map(\.spec) : pending.job.variants
        let new = wanted.filter { !look.asked.contains($0) }
        guard !new.isEmpty else { return look.snapshot }
        look.snapshot.variants.removeAll { new.contains($0.spec) && isGone($0.location, $0.bytes) }
        // The very same array as other jobs have (`RecentParts`).
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

    /// Looks for a slice of records begin: of sources of which none is known that is good for them.
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

    /// The slice's jobs are taken up next, by these looks; where rows changed meanwhile, by others.
    mutating func useAhead(_ topic: Topic, _ looks: [SourceKey: Look]) {
        guard let changed = changed.removeValue(forKey: topic) else { return }
        ahead = looks
        for source in changed { ahead[source] = nil }
    }

    mutating func endAhead() { ahead = [:] }

    /// Rows are let go when the burst is over.
    mutating func tick(_ now: Instant) {
        if now - last > Self.age, !recent.isEmpty || !older.isEmpty { (recent, older) = ([:], [:]) }
    }

    /// Rows of the source have changed.
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
