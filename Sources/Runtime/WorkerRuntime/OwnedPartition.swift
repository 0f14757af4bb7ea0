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
    /// Epoch of the rows that are announced: the ownership's, or a later one (`bid`).
    private(set) var epoch: Int64
    private(set) var index: any VariantIndex
    /// By these the changelog is still to be known as the one that the index folded; nil: it is known.
    private(set) var unproven: ChangelogAnchors?
    /// Of rows that were folded until then: by those any index that folded them would be known as one of this changelog.
    private var heldAnchors = ChangelogAnchors()
    var state: PartitionState
    var snapshots = SnapshotCache()
    var outbox = Outbox()
    var lifecycle: PartitionLifecycle
    /// Jobs that were taken up, and wait for a damaged index to be restored.
    var pendingJobs: [PendingJob] = []
    /// Rows that were read and that the index has not taken yet.
    var unfolded: RowSlice?
    /// The index took nothing the last time.
    var isStuck = false
    /// Topics that may have records; a topic stays in while it is not drained for want of room.
    var readable = TopicSet()
    /// Topics of which a slice of records is being decoded.
    var decoding = TopicSet()
    /// What was read of each tier and is not due.
    var heads: [Topic: DelayHead] = [:]
    var search = TierSearch()
    /// By topic: whether its log is still the one that is read.
    var watches = ByTopic(repeating: LogWatch())
    /// Topics whose logs are watched.
    static let watched = Topic.worked + [.variants]
    /// How far the changelog was read when it was last looked at.
    var readAtLook: Int64?
    var ledger: ProgressLedger
    /// What earlier owners answered beyond the progress row, and how far answers have come; nil until the log was asked.
    var answers: AnswerTail?
    /// What retention removed unread, under earlier owners too.
    var lost: ProgressRow.Lost?
    /// What rows of this owner told of each topic.
    var told = ToldProgress()
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
    /// By topic: each has its own while a slice of it is being decoded.
    var recentParts = ByTopic(repeating: RecentParts())

    init(
        _ id: PartitionID, epoch: Int64, index: any VariantIndex, state: consuming PartitionState,
        changelog: Range<Int64>,
        kept: KeptProgress?, ledger: ProgressLedger
    ) {
        (self.id, self.index, self.kept, self.ledger) = (id, index, kept, ledger)
        self.state = state
        (self.epoch, ownership) = (epoch, Ownership(id, epoch: epoch))
        lifecycle = PartitionLifecycle(changelog: changelog, folded: index.position ?? 0)
        unproven = index.checkpoint?.anchors
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

    /// The index is of this changelog.
    func prove() { unproven = nil }

    /// Rows into the index, which holds all before `end` then.
    func apply(
        _ changes: [IndexChange], of slice: RowSlice, progress: ProgressRow?, epoch: Int64
    ) throws(IndexFailure) {
        // A file of an earlier program has rows, and has none until it gets the first new one.
        var anchors = index.checkpoint == nil ? ChangelogAnchors() : index.checkpoint?.anchors
        heldAnchors = heldAnchors.noting(slice.anchors)
        if unproven == nil, !heldAnchors.isEmpty {
            anchors = (anchors ?? ChangelogAnchors()).noting(heldAnchors)
            heldAnchors = ChangelogAnchors()
        }
        try index.apply(
            changes, progress: progress, upTo: lifecycle.indexPosition(upTo: slice.end), epoch: epoch,
            isOpened: index.checkpoint?.isOpened ?? false || slice.hasEpochRow, anchors: anchors)
        lifecycle.fold(upTo: slice.end)
    }

    /// Another index takes the place of one that is damaged, of another changelog (`isOfAnother`), or awaited.
    func restart(_ index: any VariantIndex, isOfAnother: Bool = false) {
        self.index = index
        snapshots = SnapshotCache()
        unproven = index.checkpoint?.anchors
        lifecycle.rebuild(from: index.position ?? 0, isOfAnother: isOfAnother)
        (isStuck, unfolded, heldAnchors, readAtLook) = (false, nil, ChangelogAnchors(), nil)
    }

    /// Raises the epoch above each epoch of the changelog, before the fence.
    func bid() {
        let fold = epochs
        if fold.isOutbid { epoch = GroupEpoch.after(epoch, fold.epoch) }
    }

    /// Decides which of the next rows count.
    var epochs: EpochFold {
        EpochFold(
            after: index.checkpoint?.epoch ?? 0, upTo: index.position ?? 0, own: epoch, since: lifecycle.changelogEnd)
    }

    /// How many more records of a topic may be taken up.
    func room(_ topic: Topic, readAhead: Int) -> Int {
        let reading = state.reading(topic)
        return Self.room(
            unfinished: reading.unfinished, answered: outbox.count(topic), span: reading.span, readAhead: readAhead)
    }

    /// A job that waits long for its permit must not let the committable offset's span grow for ever behind it. Those that wait in
    /// memory for their time leave their room to others. Jobs that are answered and wait for the disk
    /// or the brokers alone leave their room to others, once: else each commit would be waited for.
    static func room(unfinished: Int, answered: Int, span: Int, readAhead: Int) -> Int {
        min(
            readAhead - (unfinished - answered), readAhead - answered,
            max(TopicProgress.finishedLimit, readAhead) - span)
    }
}
