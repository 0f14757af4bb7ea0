internal import Records

/// How far each standing control has examined the rows of `parked`.
///
/// A control examines all rows when it arrives. After the jobs from before it are finished or have rows, it examines all rows
/// again, until it finds none that it names: the end of a job counts once its tombstone is applied.
struct ParkedExaminations {
    private struct Examination {
        /// Place of the last row that was examined; nil: all were.
        var place: Int64? = 0
        /// Whether a row was found since the first one that the control names.
        var hasFound = false
        /// End of `parked` that must be applied before the last examination; nil: an earlier job is not finished.
        var bound: Int64?
        /// Whether the examination began after that.
        var isLast = false
    }

    private var all: [RecordPlace: Examination] = [:]

    mutating func begin(_ control: RecordPlace) { all[control] = Examination() }
    mutating func end(_ control: RecordPlace) { all[control] = nil }

    /// Begins all examinations again, because the rows are those of another table.
    mutating func restart() { all = all.mapValues { _ in Examination() } }

    /// Place after which the next slice begins; nil: nothing is to be examined now.
    func next(_ control: RecordPlace) -> Int64? { all[control]?.place }

    /// - Parameter found: whether the slice has rows that the control names.
    mutating func examined(_ control: RecordPlace, upTo place: Int64?, found: Bool) {
        all[control]?.place = place
        if found { all[control]?.hasFound = true }
    }

    /// Whether a control whose earlier jobs are finished or parked is over. If not, it begins another examination.
    ///
    /// - Parameters:
    ///   - folded: offset below which `parked` is applied.
    ///   - end: the same, once all rows of this owner are.
    mutating func isOver(_ control: RecordPlace, folded: Int64, end: Int64) -> Bool {
        guard var known = all[control] else { return false }
        known.bound = known.bound ?? end
        defer { all[control] = known }
        guard known.place == nil, let bound = known.bound, folded >= bound else { return false }
        if known.isLast, !known.hasFound { return true }
        (known.place, known.hasFound, known.isLast) = (0, false, true)
        return false
    }
}
