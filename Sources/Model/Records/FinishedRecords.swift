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
    /// What the row tells of a log with these bounds, whose group has committed this. nil where the next owner would not
    /// believe it either: of another log, without its anchor, or after an operator has set the offset back.
    package func finished(in bounds: Range<Int64>, committed: Int64?) -> FinishedRecords? {
        guard let anchor, bounds.contains(anchor.offset), bounds.contains((last ?? anchor).offset),
            next <= bounds.upperBound, committed ?? .max >= self.committed ?? 0
        else { return nil }
        let start = max(next, committed ?? next, bounds.lowerBound)
        return FinishedRecords(next: start, ahead: finished.count { $0 >= start && $0 < bounds.upperBound })
    }
}
