/// A decoded record of a topic that owners apply to their index.
package protocol FoldedEntry: Sendable {
    init(_ record: Record) throws(RecordFailure)
    /// The epoch row that the record is, if it is one.
    var fence: EpochRow? { get }
    /// Whether the record may stay in the log for long, so that an index can be recognised by it.
    var isLasting: Bool { get }
}

extension ChangelogEntry: FoldedEntry {
    package var fence: EpochRow? { if case .epoch(let row) = self { row } else { nil } }
    /// Epoch rows and progress rows are soon replaced.
    package var isLasting: Bool { if case .change = self { true } else { false } }
}

extension ParkedEntry: FoldedEntry {
    package var fence: EpochRow? { if case .epoch(let row) = self { row } else { nil } }
    /// Rows are soon deleted. The last epoch row stays until another owner comes.
    package var isLasting: Bool { true }
}
