/// The wall clock used for decisions: a forward jump is accepted only after it has lasted a minute.
///
/// A wrong clock that is soon corrected would end all jobs with an expiry, and these cannot be restored. A delay of a
/// minute costs less. A clock set back ends no job, and is accepted at once, as are small corrections.
package struct TrustedClock: Sendable {
    /// The last moment at which the wall clock was trusted: from there on the monotonic clock counts.
    private var believed: Moment
    /// When the wall clock was first seen too far ahead.
    private var forwardSince: Instant?

    /// Largest forward correction that is accepted at once.
    package static let step = Duration.seconds(10)
    /// How long a forward jump is distrusted.
    package static let doubt = Duration.minutes(1)

    /// Trusts both clocks as they are now.
    package init(wall: WallTime, monotonic: Instant) { believed = Moment(wall: wall, monotonic: monotonic) }

    /// The current moment for decisions.
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
