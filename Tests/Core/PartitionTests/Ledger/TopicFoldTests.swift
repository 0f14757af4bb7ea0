import Clocks
import Ledger
import Ports
import Records
import TestSupport
import Testing

@Suite("The fold of one topic")
struct TopicFoldTests {
    private static func fingerprints(_ offsets: Int64...) -> ChangelogFingerprints {
        ChangelogFingerprints(offsets.map { RecordFingerprint(offset: $0, timestamp: WallTime(milliseconds: $0)) })
    }

    private static func checkpoint(
        _ position: Int64, epoch: Int64 = 1, fingerprints: ChangelogFingerprints? = ChangelogFingerprints()
    ) -> IndexCheckpoint {
        IndexCheckpoint(position: position, epoch: epoch, isOpened: true, at: 0, fingerprints: fingerprints)
    }

    @Test("Anchors of new rows are kept back until the topic is known as the one that the index folded")
    func fingerprints() {
        let known = Self.checkpoint(3, fingerprints: Self.fingerprints(1))
        var fold = TopicFold(.parked, 0..<9, epoch: 5, from: known)
        #expect(fold.unproven == Self.fingerprints(1) && fold.lifecycle.folded == 3)
        #expect(fold.fingerprints(with: Self.fingerprints(4), after: known) == Self.fingerprints(1))
        fold.prove()
        #expect(fold.fingerprints(with: Self.fingerprints(6), after: known) == Self.fingerprints(1, 4, 6))
        #expect(fold.fingerprints(with: ChangelogFingerprints(), after: known) == Self.fingerprints(1))
    }

    @Test("An index of an older version has no anchors until it gets a row; an empty one begins with none")
    func withoutFingerprints() {
        let old = Self.checkpoint(3, fingerprints: nil)
        var fold = TopicFold(.variants, 0..<9, epoch: 5, from: old)
        #expect(fold.fingerprints(with: ChangelogFingerprints(), after: old) == nil)
        #expect(fold.fingerprints(with: Self.fingerprints(4), after: old) == Self.fingerprints(4))
        fold = TopicFold(.variants, 0..<9, epoch: 5, from: nil)
        #expect(fold.fingerprints(with: ChangelogFingerprints(), after: nil) == ChangelogFingerprints())
    }

    @Test("An owner whose epoch is below one of `parked` raises it before it writes there")
    func bids() {
        let own = GroupEpoch.epoch(changelogEnd: 3, generation: 1)
        for (told, isRaised) in [(own - 1, false), (own, false), (GroupEpoch.epoch(changelogEnd: 900, generation: 4), true)] {
            let checkpoint = Self.checkpoint(2, epoch: told)
            var fold = TopicFold(.parked, 0..<2, epoch: own, from: checkpoint)
            fold.bid(after: checkpoint)
            #expect(isRaised ? fold.epoch > told : fold.epoch == own)
        }
    }

    @Test("Another index is restored to where the old one was, and its anchors must be proven")
    func restart() {
        var fold = TopicFold(.parked, 0..<5, epoch: 1, from: nil)
        fold.lifecycle.fold(upTo: 5)
        (fold.isStuck, fold.readAtLook) = (true, 5)
        fold.restart(from: Self.checkpoint(2, fingerprints: Self.fingerprints(1)))
        #expect(fold.lifecycle.folded == 2 && fold.lifecycle.rowsLeft == 3 && fold.unproven == Self.fingerprints(1))
        #expect(!fold.isStuck && fold.readAtLook == nil && !fold.isSettled)
    }

    @Test("A topic is settled once its epoch row is folded and no ignored key waits")
    func settled() {
        var fold = TopicFold(.parked, 0..<0, epoch: 1, from: nil)
        #expect(fold.lifecycle.advance(at: 0) == .fence(attempt: 1) && !fold.isSettled)
        fold.lifecycle.fenced(at: 0, republished: [:])
        fold.lifecycle.fold(upTo: 1)
        #expect(fold.lifecycle.advance(at: 0) == .own && fold.isSettled)
        fold.lifecycle.ignore(.epoch(PartitionID(0)), at: 1)
        #expect(!fold.isSettled)
    }
}
