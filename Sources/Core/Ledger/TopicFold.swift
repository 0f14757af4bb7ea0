internal import Clocks
package import Ports
package import Records

/// The fold of one topic into the index of its partition: which records count, and how far the owner has come.
///
/// `variants` and `parked` are folded in the same way, each behind epoch rows of its own. Jobs of the lanes wait for the fold of
/// `variants`. They do not wait for the fold of `parked`: until it is owned, no parked job starts and no job is parked.
///
/// The epoch row of `parked` comes after all that was in the topic has been read. Only then is it known that the epoch is
/// above each epoch in the topic: a row that an owner parked in a lower one would be ignored, and its job lost. An owner
/// that has read nothing cannot know it, because epochs are computed from the offsets of `variants`.
package struct TopicFold: Sendable {
    package let topic: Topic
    /// Epoch of the rows that are published: the ownership's, or a later one (`bid`).
    package private(set) var epoch: Int64
    package var lifecycle: PartitionLifecycle
    /// Fingerprints by which the topic must still be recognised as the topic that the index folded; nil: it was.
    package private(set) var unproven: ChangelogFingerprints?
    /// Whether the index refused the last records.
    package var isStuck = false
    /// Offset that had been read when the topic was last looked at.
    package var readAtLook: Int64?
    /// Fingerprints of rows that were folded while the topic was unproven. Any index that folded them is one of this
    /// topic.
    private var pendingFingerprints = ChangelogFingerprints()

    /// - Parameters:
    ///   - range: the topic's records when the partition came.
    ///   - checkpoint: the index's, of this topic.
    package init(_ topic: Topic, _ range: Range<Int64>, epoch: Int64, from checkpoint: IndexCheckpoint?) {
        (self.topic, self.epoch) = (topic, epoch)
        lifecycle = PartitionLifecycle(changelog: range, folded: checkpoint?.position ?? 0)
        unproven = checkpoint?.fingerprints
    }

    /// Whether the owner has applied the topic to its own epoch row, and published the ignored keys again.
    package var isSettled: Bool { lifecycle.isRestored && lifecycle.isClean }

    /// Decides which of the next records count.
    package func epochs(after checkpoint: IndexCheckpoint?) -> EpochFold {
        EpochFold(
            after: checkpoint?.epoch ?? 0, upTo: checkpoint?.position ?? 0, own: epoch, since: lifecycle.changelogEnd,
            isReckonedHere: topic == .variants)
    }

    /// Raises the epoch above each epoch of the topic, before the epoch row is appended.
    package mutating func bid(after checkpoint: IndexCheckpoint?) {
        let fold = epochs(after: checkpoint)
        if fold.isOutbid { epoch = GroupEpoch.after(epoch, fold.epoch) }
    }

    /// The index is of this topic.
    package mutating func prove() { unproven = nil }

    /// Fingerprints for the index, after rows with these new ones; nil for a file that has none, until it gets a new
    /// row.
    package mutating func fingerprints(with new: ChangelogFingerprints, after checkpoint: IndexCheckpoint?)
        -> ChangelogFingerprints?
    {
        var fingerprints = checkpoint == nil ? ChangelogFingerprints() : checkpoint?.fingerprints
        pendingFingerprints = pendingFingerprints.noting(new)
        if unproven == nil, !pendingFingerprints.isEmpty {
            fingerprints = (fingerprints ?? ChangelogFingerprints()).noting(pendingFingerprints)
            pendingFingerprints = ChangelogFingerprints()
        }
        return fingerprints
    }

    /// Another index replaces a damaged or awaited one, or one of another log (`isOfAnother`).
    package mutating func restart(from checkpoint: IndexCheckpoint?, isOfAnother: Bool = false) {
        unproven = checkpoint?.fingerprints
        lifecycle.rebuild(from: checkpoint?.position ?? 0, isOfAnother: isOfAnother)
        (isStuck, pendingFingerprints, readAtLook) = (false, ChangelogFingerprints(), nil)
    }
}
