package import Canonical
package import Clocks
package import Records

/// How far an owner has come with a partition: which rows of the changelog count, and when jobs may run.
///
/// restoring → fencing → fenced → owned → leaving. An owner folds what the changelog held when it came. Then it appends its
/// epoch row, the fence: rows that an earlier owner appends behind it count for nothing. Once that is folded, jobs run. A
/// damaged index is restored again; the fence stays.
///
/// Rows from a fenced epoch are ignored, but compaction would keep them as the newest of their keys. So the owner
/// republishes the valid row of each such key, the epoch row last: it is what the others are known by.
///
/// An owner whose changelog is recreated stops (`Worker+Changelog`).
package struct PartitionLifecycle: Sendable, Equatable {
    package enum Phase: Sendable, Equatable {
        case restoring
        /// The fence is on its way to the log.
        case fencing(attempt: Int)
        /// It is there, and not folded.
        case fenced
        case owned(Owned)
        /// To another owner: nothing new is begun. It had come so far.
        indirect case leaving(from: Phase)
    }

    /// Jobs may run.
    package struct Owned: Sendable, Equatable {
        package let since: Instant
        /// Valid rows are on their way to the log.
        package var isRepublishing = false
    }

    /// What is to be done next.
    package enum Step: Sendable, Equatable {
        /// The epoch row is appended, behind the valid rows of `fencedKeys`; `fenced` or `abandonFence` follows.
        case fence(attempt: Int)
        /// Jobs may run.
        case own
    }

    package private(set) var phase = Phase.restoring
    /// Where the changelog began when the partition came.
    package let changelogStart: Int64
    /// And where it ended: rows before it were written by earlier owners.
    package let changelogEnd: Int64
    /// Jobs wait until the index holds every row before this changelog position.
    package private(set) var restoreEnd: Int64
    /// The index holds every row before this position. Its file may name an earlier one (`indexPosition`).
    package private(set) var folded: Int64
    /// Keys of ignored rows, and where the last of each stands.
    package private(set) var fencedKeys: [RecordKey: Int64] = [:]
    /// Rebuilds of the index.
    package private(set) var rebuilds = 0
    private var attempts = 0

    /// - Parameters:
    ///   - changelog: its records when the partition came.
    ///   - folded: what the index holds already.
    package init(changelog: Range<Int64>, folded: Int64) {
        (changelogStart, changelogEnd) = (changelog.lowerBound, changelog.upperBound)
        (restoreEnd, self.folded) = (changelog.upperBound, folded)
    }

    package func checkInvariants() {
        if case .leaving = reached { invariant(false, "a partition leaves twice") }
    }

    private var reached: Phase { if case .leaving(let phase) = phase { phase } else { phase } }

    /// When jobs could first run since the last restore.
    package var ownedSince: Instant? { if case .owned(let owned) = reached { owned.since } else { nil } }
    /// Whether the index holds all that it must for jobs to run.
    package var isRestored: Bool { ownedSince != nil }

    /// Whether the fence of this attempt is still on its way.
    package func isFencing(_ attempt: Int) -> Bool {
        phase == .fencing(attempt: attempt)
    }

    package var isLeaving: Bool { if case .leaving = phase { true } else { false } }

    /// Whether every ignored row is republished.
    package var isClean: Bool { !isRepublishing && fencedKeys.isEmpty }
    /// Whether rows are being appended again.
    package var isRepublishing: Bool { if case .owned(let owned) = phase { owned.isRepublishing } else { false } }

    /// Changelog records to be folded before jobs may run: at most, since offsets have gaps.
    package var rowsLeft: Int64 { max(0, restoreEnd - max(folded, changelogStart)) }

    // MARK: Rows

    /// A row of an epoch that is over was read.
    package mutating func ignore(_ key: RecordKey, at offset: Int64) { fencedKeys[key] = offset }

    package mutating func fold(upTo end: Int64) { folded = end }

    /// The position for the index's file once all before `end` is folded. It never passes an ignored row: an owner that
    /// restarts from the file must find the row's key again.
    package func indexPosition(upTo end: Int64) -> Int64 { min(end, fencedKeys.values.min() ?? end) }

    /// The valid rows of these keys are in the log; not behind an ignored row that came meanwhile.
    private mutating func forget(_ republished: [RecordKey: Int64]) {
        for (key, offset) in republished where fencedKeys[key] == offset { fencedKeys[key] = nil }
    }

    // MARK: Restore and fence

    /// - Parameter isRead: reading has come to `restoreEnd`. Compaction may leave a gap before it, which no row shows.
    package mutating func advance(isRead: Bool = false, at now: Instant) -> Step? {
        guard isRead || folded >= restoreEnd else { return nil }
        switch phase {
        case .restoring:
            attempts += 1
            phase = .fencing(attempt: attempts)
            return .fence(attempt: attempts)
        case .fenced:
            phase = .owned(Owned(since: now))
            return .own
        case .fencing, .owned, .leaving: return nil
        }
    }

    /// The fence is in the log at `offset`, behind the valid rows of these keys.
    package mutating func fenced(at offset: Int64, republished: [RecordKey: Int64]) {
        guard case .fencing = phase else { return }
        forget(republished)
        restoreEnd = max(restoreEnd, offset + 1)
        phase = .fenced
    }

    /// The index cannot tell now what holds: the fence comes later.
    package mutating func abandonFence() {
        if case .fencing = phase { phase = .restoring }
    }

    /// Another index takes the place of a damaged one. Of an index of another changelog (`isOfAnother`) the epochs were, too:
    /// they made no row's epoch one that is over.
    ///
    /// - Parameter position: what the new one holds already.
    package mutating func rebuild(from position: Int64 = 0, isOfAnother: Bool = false) {
        restoreEnd = max(restoreEnd, folded)
        folded = position
        if isOfAnother { fencedKeys = [:] }
        rebuilds += 1
        switch phase {
        case .restoring, .fencing: phase = .restoring
        case .fenced, .owned: phase = .fenced
        case .leaving: phase = .leaving(from: .restoring)
        }
    }

    // MARK: Republish

    /// Keys whose valid rows are to be appended now. Those of a source or a parked job in flight wait for what that
    /// publishes, and the epoch row, by which the others are known, waits for all.
    package func keysToRepublish(isInFlight: (RecordKey) -> Bool) -> [RecordKey: Int64] {
        guard case .owned(let owned) = phase, !owned.isRepublishing, !fencedKeys.isEmpty else { return [:] }
        let waits = fencedKeys.keys.contains { $0.source != nil && isInFlight($0) }
        return fencedKeys.filter { $0.key.source == nil ? !waits : !isInFlight($0.key) }
    }

    package mutating func beginRepublishing() { setRepublishing(true) }

    private mutating func setRepublishing(_ isRepublishing: Bool) {
        guard case .owned(var owned) = phase else { return }
        owned.isRepublishing = isRepublishing
        phase = .owned(owned)
    }

    /// - Parameter keys: none where the log did not take all of them.
    package mutating func republished(_ keys: [RecordKey: Int64]) {
        setRepublishing(false)
        forget(keys)
    }

    package mutating func leave() { phase = .leaving(from: reached) }
}

extension RecordKey {
    package var source: SourceKey? {
        switch self {
        case .job(let source), .source(let source), .variant(let source, _), .parked(let source, _): source
        case .epoch, .progress: nil
        }
    }
}
