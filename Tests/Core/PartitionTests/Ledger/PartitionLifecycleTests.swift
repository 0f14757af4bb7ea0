import Canonical
import Ledger
import Partition
import Records
import TestSupport
import Testing

@Suite("A partition's way from its restore to its next owner", .timeLimit(.minutes(1)))
struct PartitionLifecycleTests {
    private static let (one, two) = (SourceKey.numbered(1), SourceKey.numbered(2))

    private func restored(_ changelog: Range<Int64> = 0..<5) -> PartitionLifecycle {
        var lifecycle = PartitionLifecycle(changelog: changelog, folded: 5)
        #expect(lifecycle.advance(at: 0) == .fence(attempt: 1))
        lifecycle.fenced(at: 5, republished: [:])
        lifecycle.fold(upTo: 6)
        #expect(lifecycle.advance(at: 0) == .own)
        return lifecycle
    }

    @Test("Jobs run once all that was there is folded, the fence is in the log, and is folded, too")
    func steps() {
        var lifecycle = PartitionLifecycle(changelog: 2..<10, folded: 0)
        #expect(lifecycle.advance(at: 0) == nil && lifecycle.rowsLeft == 8)
        lifecycle.fold(upTo: 9)
        #expect(lifecycle.advance(at: 0) == nil && lifecycle.rowsLeft == 1)
        // Compaction left a gap at the end.
        #expect(lifecycle.advance(isRead: true, at: 0) == .fence(attempt: 1))
        #expect(lifecycle.advance(isRead: true, at: 0) == nil, "the fence is under way")
        lifecycle.fenced(at: 10, republished: [:])
        #expect(lifecycle.advance(at: 0) == nil && !lifecycle.isRestored && lifecycle.restoreEnd == 11)
        lifecycle.fold(upTo: 11)
        #expect(lifecycle.advance(at: 0) == .own && lifecycle.isRestored)
        #expect(lifecycle.advance(at: 0) == nil)
    }

    @Test("An index that is made anew is restored to where it was; a fence that is in the log stays")
    func rebuilds() {
        var lifecycle = PartitionLifecycle(changelog: 0..<5, folded: 5)
        #expect(lifecycle.advance(at: 0) == .fence(attempt: 1))
        lifecycle.rebuild()
        // The first attempt ends, and says nothing to the second.
        #expect(lifecycle.phase == .restoring && lifecycle.rowsLeft == 5)
        lifecycle.fenced(at: 5, republished: [:])
        #expect(lifecycle.phase == .restoring)
        lifecycle.fold(upTo: 6)
        #expect(lifecycle.advance(at: 0) == .fence(attempt: 2))
        lifecycle.fenced(at: 6, republished: [:])
        lifecycle.fold(upTo: 7)
        #expect(lifecycle.advance(at: 0) == .own)
        lifecycle.fold(upTo: 20)
        lifecycle.rebuild()
        #expect(lifecycle.phase == .fenced && lifecycle.restoreEnd == 20 && lifecycle.rebuilds == 2)
        lifecycle.fold(upTo: 20)
        #expect(lifecycle.advance(at: 0) == .own)
    }

    @Test("A fence that cannot be appended for want of the index is tried again")
    func abandoned() {
        var lifecycle = PartitionLifecycle(changelog: 0..<0, folded: 0)
        #expect(lifecycle.advance(at: 0) == .fence(attempt: 1))
        lifecycle.abandonFence()
        #expect(lifecycle.advance(at: 0) == .fence(attempt: 2))
    }

    @Test("Valid rows are republished: not of a source in flight, and the epoch row when no other is left")
    func republish() {
        var lifecycle = restored()
        lifecycle.ignore(.source(Self.one), at: 7)
        lifecycle.ignore(.source(Self.two), at: 8)
        lifecycle.ignore(.epoch(PartitionID(0)), at: 9)
        lifecycle.fold(upTo: 10)
        #expect(!lifecycle.isClean && lifecycle.indexPosition(upTo: 10) == 7)
        let first = lifecycle.keysToRepublish { $0 == .source(Self.one) }
        #expect(first == [.source(Self.two): 8])
        lifecycle.beginRepublishing()
        #expect(lifecycle.keysToRepublish { _ in false }.isEmpty, "one batch at a time")
        // Another late row came for the same key.
        lifecycle.ignore(.source(Self.two), at: 10)
        lifecycle.republished(first)
        let second = lifecycle.keysToRepublish { _ in false }
        #expect(second == [.source(Self.one): 7, .source(Self.two): 10, .epoch(PartitionID(0)): 9])
        lifecycle.beginRepublishing()
        lifecycle.republished([:])
        #expect(lifecycle.keysToRepublish { _ in false } == second, "the log did not take them")
        lifecycle.beginRepublishing()
        lifecycle.republished(second)
        #expect(lifecycle.isClean && lifecycle.indexPosition(upTo: 12) == 12)
    }

    @Test("What leaves is not fenced, republished or owned any more", arguments: [true, false])
    func leaves(wasOwned: Bool) {
        var lifecycle = wasOwned ? restored() : PartitionLifecycle(changelog: 0..<5, folded: 5)
        lifecycle.leave()
        lifecycle.ignore(.source(Self.one), at: 7)
        lifecycle.fold(upTo: 10)
        #expect(lifecycle.isLeaving && lifecycle.isRestored == wasOwned)
        #expect(lifecycle.advance(at: 0) == nil && lifecycle.keysToRepublish { _ in false }.isEmpty)
        lifecycle.rebuild()
        #expect(lifecycle.isLeaving && !lifecycle.isRestored)
    }
}
