/// The wall's clock as decisions go by it: one that is set forward is believed after a minute, if it stays so.
///
/// A wrong clock that is soon put right would end all jobs that have a time to end by, and nothing brings them back. What is
/// late by a minute costs less. A clock set back ends nothing, and is believed at once, as are small corrections.
package struct TrustedClock: Sendable {
    /// What the wall's clock is ahead of the monotonic one, as it is believed, milliseconds.
    private var lead: Int64
    /// The first sight of a clock that is further ahead, by the monotonic one.
    private var forwardSince: Int64?

    /// Clocks are corrected by jumps up to here without harm, milliseconds.
    package static let step: Int64 = 10_000
    /// How long one that was set forward is doubted, milliseconds.
    package static let doubt: Int64 = 60_000

    /// Both as they are now: that is believed.
    package init(wall: Int64, monotonic: Int64) { lead = wall - monotonic }

    /// This moment, as decisions go by it.
    package mutating func moment(wall: Int64, monotonic: Int64) -> Moment {
        if wall - monotonic - lead > Self.step {
            let since = forwardSince ?? monotonic
            forwardSince = since
            if monotonic - since < Self.doubt { return Moment(wall: monotonic + lead, monotonic: monotonic) }
        }
        (lead, forwardSince) = (wall - monotonic, nil)
        return Moment(wall: wall, monotonic: monotonic)
    }
}
