/// How many records of one partition's topic an owner has finished: a committed offset alone tells of none behind the first
/// unfinished one.
package struct FinishedRecords: Sendable, Hashable {
    /// Every record below it is finished.
    package let next: Int64
    /// Finished at `next` and after.
    package let ahead: Int

    package init(next: Int64, ahead: Int) { (self.next, self.ahead) = (next, ahead) }
}

extension TopicProgress {
    /// What the row tells of a log whose committed offset is `committed` now; nil of another log, and where an operator has
    /// set the offset back: those records are to be done again.
    package func finished(committed: Int64, end: Int64) -> FinishedRecords? {
        guard committed >= self.committed ?? 0, max(next, (last ?? anchor)?.offset ?? 0) <= end else { return nil }
        let start = max(next, committed)
        return FinishedRecords(next: start, ahead: finished.count { $0 >= start && $0 < end })
    }
}
