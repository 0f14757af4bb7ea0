/// The wall's clock as decisions go by it: one that is set forward is believed after a minute, if it stays so.
///
/// A wrong clock that is soon put right would end all jobs that have a time to end by, and nothing brings them back. What is
/// late by a minute costs less. A clock set back ends nothing, and is believed at once, as are small corrections.
package struct TrustedClock: Sendable {
    /// The last moment at which the wall's clock was believed: from there on the monotonic one counts.
    private var believed: Moment
    /// The first sight of a clock that is further ahead.
    private var forwardSince: Instant?

    /// Clocks are corrected by jumps up to here without harm.
    package static let step = Duration.seconds(10)
    /// How long one that was set forward is doubted.
    package static let doubt = Duration.minutes(1)

    /// Both as they are now: that is believed.
    package init(wall: WallTime, monotonic: Instant) { believed = Moment(wall: wall, monotonic: monotonic) }

    /// This moment, as decisions go by it.
    package mutating func moment(wall: WallTime, monotonic: Instant) -> Moment {
        let expected = believed.wall + (monotonic - believed.monotonic)
        if wall - expected > Self.step {
            let since = forwardSince ?? monotonic
            forwardSince = since
            if monotonic - since < Self.doubt { return Moment(wall: expected, monotonic: monotonic) }
        }
        (believed, forwardSince) = (Moment(wall: wall, monotonic: monotonic), nil)
        return believed
    }
}
