internal import Clocks
internal import ImageModel
internal import Jobs
internal import Ledger
internal import Partition
internal import Permits
internal import Ports
internal import Positions
internal import Records

/// A partition that this worker owns now: its reducer, its index, and how far both have come.
///
/// - Concurrency: lives on the log's thread, inside the worker.
final class OwnedPartition {
    let id: PartitionID
    /// As the log gave it: by that the log knows what this ownership appends.
    let ownership: Ownership
    private(set) var index: any VariantIndex
    /// The fold of `variants`, and that of `parked`.
    var changelog: TopicFold
    var parked: TopicFold
    var state: PartitionState
    var snapshots = SnapshotCache()
    var outbox = Outbox()
    /// Jobs that were taken up, and wait for a damaged index to be restored.
    var pendingJobs: [PendingJob] = []
    /// Rows that were read and that the index has not taken yet.
    var unfolded: RowBatch<ChangelogEntry>?
    var unfoldedParked: RowBatch<ParkedEntry>?
    var starts = ParkedStarts()
    var examinations = ParkedExaminations()
    /// Whether the log was asked for the ends of the lanes, for controls.
    var asksEnds = false
    /// End of `control` at the beginning. Until it is read, or until `controlsLimit`, no job is read: a control may end jobs
    /// that were published before it.
    var controlsEnd: Int64?
    var controlsLimit: Instant?
    /// Whether the jobs are known that earlier owners completed before this one opened its epoch in `parked`.
    var knowsParkedEnds = false
    /// Offset up to which the table lacks nothing that this owner has appended to `parked`, once it is folded.
    var parkedEnd: Int64 = 0
    /// Offset up to which the table lacks rows that were published again. Until they are folded no job starts: a
    /// quarantined job is known by the offset of its row.
    var republishedEnd: Int64 = 0
    /// Topics that may have records; a topic stays in while it is not drained for want of room.
    var readable = TopicSet()
    /// Topics of which a batch of records is being decoded.
    var decoding = TopicSet()
    /// By topic: whether its log is still the one that is read.
    var watches = ByTopic(repeating: LogWatch())
    /// Topics whose logs are watched.
    static let watched = Topic.consumed + Topic.folded
    var ledger: ProgressLedger
    /// What earlier owners answered beyond the progress row, and how far answers have come; nil until the log was asked.
    var outcomeTail: OutcomeTail?
    /// What retention removed unread, under earlier owners too.
    var lost: ProgressRow.Lost?
    /// What rows of this owner told of each topic.
    var reported = ReportedProgress()
    /// What this worker knew when the partition went; better than the row as long as nobody wrote a later one.
    let kept: KeptProgress?
    /// From the fence on: what the index knew of earlier owners then, their topics, and the store that rows are bound to.
    private var takenOver: (left: ProgressRow?, topics: [Topic: TopicProgress], store: StoreIdentity)?
    /// What earlier owners left, as far as the index knows until a row of this one takes its place.
    var left: ProgressRow? { takenOver.map(\.left) ?? index.progress }
    /// The same of each topic, or what this worker knows itself where it wrote that row or read it last (`kept`).
    var leftTopics: [Topic: TopicProgress] { takenOver?.topics ?? topics(of: left) }
    var store: StoreIdentity? { takenOver?.store }
    /// Of sampled jobs, those that have ended.
    var steps: [RecordPlace: [Step]] = [:]
    /// By topic: each has its own while a batch of it is being decoded.
    var recentParts = ByTopic(repeating: RecentParts())

    init(
        _ id: PartitionID, epoch: Int64, index: any VariantIndex, state: consuming PartitionState,
        folded: ByFoldedTopic<Range<Int64>>, kept: KeptProgress?, ledger: ProgressLedger
    ) {
        (self.id, self.index, self.kept, self.ledger) = (id, index, kept, ledger)
        self.state = state
        ownership = Ownership(id, epoch: epoch)
        changelog = TopicFold(.variants, folded.variants, epoch: epoch, from: index.checkpoint)
        parked = TopicFold(.parked, folded.parked, epoch: epoch, from: index.parked.parkedCheckpoint)
    }

    /// Epoch of the rows that are published in `variants`.
    var epoch: Int64 { changelog.epoch }
    var lifecycle: PartitionLifecycle {
        _read { yield changelog.lifecycle }
        _modify { yield &changelog.lifecycle }
    }

    /// Epoch of the rows that are published in `parked`; nil until the owner may publish them.
    var openParkedEpoch: Int64? { parked.lifecycle.isRestored ? parked.epoch : nil }

    /// The fold of a folded topic.
    subscript(fold topic: Topic) -> TopicFold {
        _read { if topic == .parked { yield parked } else { yield changelog } }
        _modify { if topic == .parked { yield &parked } else { yield &changelog } }
    }

    /// Progress of the index in a folded topic.
    func checkpoint(_ topic: Topic) -> IndexCheckpoint? {
        topic == .parked ? index.parked.parkedCheckpoint : index.checkpoint
    }

    /// A row of this owner is to take the place of what earlier owners left.
    func takeOver(_ store: StoreIdentity) {
        if let known = takenOver {
            takenOver = (known.left, known.topics, store)
            return
        }
        let left = index.progress
        takenOver = (left, topics(of: left), store)
        let isOwn = kept.map { $0.isOwn && $0.row == left } ?? false
        state.takeOver(left, isOwn: isOwn)
        lost = left?.lost
    }

    private func topics(of left: ProgressRow?) -> [Topic: TopicProgress] {
        kept.flatMap { $0.row == left ? $0.topics : nil } ?? left?.topics ?? [:]
    }

    var isRestored: Bool { lifecycle.isRestored }
    var isLeaving: Bool { lifecycle.isLeaving }

    /// Rows into the index, which holds all before `end` then.
    func apply(
        _ changes: [IndexChange], of batch: RowBatch<ChangelogEntry>, progress: ProgressRow?, epoch: Int64
    ) throws(IndexFailure) {
        let fingerprints = changelog.fingerprints(with: batch.fingerprints, after: index.checkpoint)
        try index.apply(
            changes, progress: progress, upTo: lifecycle.indexPosition(upTo: batch.end), epoch: epoch,
            isOpened: index.checkpoint?.isOpened ?? false || batch.hasEpochRow, fingerprints: fingerprints)
        lifecycle.fold(upTo: batch.end)
    }

    func apply(_ changes: [ParkedChange], of batch: RowBatch<ParkedEntry>, epoch: Int64) throws(IndexFailure) {
        let fingerprints = parked.fingerprints(with: batch.fingerprints, after: index.parked.parkedCheckpoint)
        try index.parked.applyParked(
            changes, upTo: parked.lifecycle.indexPosition(upTo: batch.end), epoch: epoch, fingerprints: fingerprints)
        parked.lifecycle.fold(upTo: batch.end)
    }

    /// Another index takes the place of one that is damaged, of another changelog (`isOfAnother`), or awaited.
    func restart(_ index: any VariantIndex, isOfAnother: Bool = false) {
        self.index = index
        snapshots = SnapshotCache()
        changelog.restart(from: index.checkpoint, isOfAnother: isOfAnother)
        parked.restart(from: index.parked.parkedCheckpoint, isOfAnother: isOfAnother)
        (unfolded, unfoldedParked) = (nil, nil)
        examinations.restart()
    }

    /// Decides which of the next rows count.
    var epochs: EpochFold { changelog.epochs(after: index.checkpoint) }

    /// How many more records of a topic may be taken up.
    func room(_ topic: Topic, readAhead: Int) -> Int {
        let reading = state.reading(topic)
        // Controls stand for long, and take no room of jobs.
        if topic == .control { return TopicProgress.finishedLimit - reading.span }
        return Self.room(
            unfinished: reading.unfinished, answered: outbox.count(topic), span: reading.span, readAhead: readAhead)
    }

    /// A job that waits long for its permit must not let the committable offset's span grow for ever behind it. Jobs that are answered and wait for the disk
    /// or the brokers alone leave their room to others, once: else each commit would be waited for.
    static func room(unfinished: Int, answered: Int, span: Int, readAhead: Int) -> Int {
        min(
            readAhead - (unfinished - answered), readAhead - answered,
            max(TopicProgress.finishedLimit, readAhead) - span)
    }
}
