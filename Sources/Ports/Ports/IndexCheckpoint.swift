package import Clocks

/// How far an index has folded its changelog, written with the rows themselves.
package struct IndexCheckpoint: Sendable, Hashable {
    /// Everything below it is in.
    package let position: Int64
    /// The newest owner's epoch so far: what an earlier owner wrote behind it does not count.
    package let epoch: Int64
    /// When it was written.
    package let at: WallTime
    /// nil of a file that an earlier program wrote last: nothing tells its changelog from another that is as long.
    package let anchors: ChangelogAnchors?

    package init(position: Int64, epoch: Int64, at: WallTime, anchors: ChangelogAnchors? = nil) {
        (self.position, self.epoch, self.at, self.anchors) = (position, epoch, at, anchors)
    }

    /// Why an index is made anew from its changelog; for people.
    package enum Flaw: Sendable, Hashable {
        /// It is of another changelog.
        case foreign(String)
        /// It is of this one, and can't be carried on.
        case outdated(String)
    }

    /// Why the index can't be carried on from here; nil if it can, as far as the changelog's bounds tell.
    ///
    /// - Parameter tombstonesKept: how long the changelog keeps the word that a row is gone. What was missed for longer
    ///   may have been dropped and forgotten, and would stand in the index for ever.
    package func flaw(in changelog: Range<Int64>, tombstonesKept: Duration?, at now: WallTime) -> Flaw? {
        if position < changelog.lowerBound { return .outdated("the changelog does not reach back to where it stopped") }
        if position > changelog.upperBound {
            return .foreign(
                "it is of one that reached offset \(position), and this one ends at \(changelog.upperBound)")
        }
        if let tombstonesKept, position < changelog.upperBound {
            if now - at > tombstonesKept {
                return .outdated("it stopped longer ago than the changelog keeps word of what is gone")
            }
            // Written by a clock that was ahead, so that its age is not known.
            if at - now > tombstonesKept {
                return .outdated("it stopped at a time that lies \((at - now).components.seconds / 86_400) days ahead of this clock")
            }
        }
        // Nothing would prove it later either, when all rows are folded.
        if let anchors, anchors.isEmpty {
            return .outdated("it names no row by which this changelog could be recognised")
        }
        return nil
    }
}
