/// Finished records of one topic-partition.
///
/// A committed offset alone does not show the records that were finished after the first unfinished one.
package struct FinishedRecords: Sendable, Hashable {
    /// Offset below which every record is finished.
    package let next: Int64
    /// Number of finished records at `next` and after.
    package let ahead: Int

    package init(next: Int64, ahead: Int) { (self.next, self.ahead) = (next, ahead) }
}

extension TopicProgress {
    /// Finished records of a log with these bounds and this committed offset.
    ///
    /// nil if the next owner would not trust the row either: the log is another one, the row has no fingerprint, or an
    /// operator has reset the offset.
    package func finished(in bounds: Range<Int64>, committed: Int64?) -> FinishedRecords? {
        guard let fingerprint, bounds.contains(fingerprint.offset), bounds.contains((last ?? fingerprint).offset),
            next <= bounds.upperBound, committed ?? .max >= self.committed ?? 0
        else { return nil }
        let start = max(next, committed ?? next, bounds.lowerBound)
        return FinishedRecords(next: start, ahead: finished.count { $0 >= start && $0 < bounds.upperBound })
    }
}
