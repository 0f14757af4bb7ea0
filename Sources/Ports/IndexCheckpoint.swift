/// How far an index has folded its changelog, written with the rows themselves.
package struct IndexCheckpoint: Sendable, Hashable {
    /// Everything below it is in.
    package let position: Int64
    /// The newest owner's epoch so far: what an earlier owner wrote behind it does not count.
    package let epoch: Int64
    /// When it was written, milliseconds since 1970.
    package let at: Int64

    package init(position: Int64, epoch: Int64, at: Int64) {
        (self.position, self.epoch, self.at) = (position, epoch, at)
    }

    /// Why the index can't be carried on from here, for people; nil if it can.
    ///
    /// - Parameter tombstonesKept: how long the changelog keeps the word that a row is gone. What was missed for longer
    ///   may have been dropped and forgotten, and would stand in the index for ever.
    package func flaw(in changelog: Range<Int64>, tombstonesKept: Duration?, at now: Int64) -> String? {
        if position < changelog.lowerBound { return "the changelog does not reach back to where it stopped" }
        if position > changelog.upperBound { return "it is of another changelog, which was longer" }
        guard let tombstonesKept, position < changelog.upperBound, .milliseconds(now - at) > tombstonesKept else {
            return nil
        }
        return "it stopped longer ago than the changelog keeps word of what is gone"
    }
}
