package import Clocks

/// Limits of a record, the same for every producer.
package enum RecordLimits {
    /// A job above this is refused at publish, and becomes a dead letter when found in a log.
    package static let jobBytes = 64 << 10
    /// How much of such a record its dead letter keeps.
    package static let keptPrefix = 4 << 10
    /// How often a record may say that its job was tried: far more than `retry.attempts` can allow.
    package static let attempts: ClosedRange<Int64> = 0...1_000_000
    /// Epochs of owners. Small enough to be counted up for ever after.
    package static let epochs: ClosedRange<Int64> = 0...(1 << 62)
    /// From 1970 up to the end of year 9999: what can be written as a date.
    package static let times = WallTime.epoch...WallTime(milliseconds: 253_402_300_799_999)
    /// How long a job may say that its origin is waited for.
    package static let giveUps = Duration.zero...Duration.days(30)
    /// No setting makes a retry wait for longer (`retry.cap`): what says so is tried at the end of this.
    package static let longestWait = Duration.days(1)

    /// A time as a record has it, the nearest that is one: a producer's clock or another program may say any
    /// number.
    package static func time(_ time: WallTime) -> WallTime {
        min(max(time, times.lowerBound), times.upperBound)
    }
    /// Times that are refused, because a publisher that gave seconds meant 2001 to 2286.
    static let unixSeconds = WallTime(milliseconds: 1_000_000_000)..<WallTime(milliseconds: 10_000_000_000)
    /// A longer key of a record that is no job is cut in what answers it; ours have 64 bytes, or a spec more.
    package static let keyBytes = 1 << 10
    /// How much of such a key is kept, before the SHA-256 of the whole.
    package static let keptKeyPrefix = 256
    /// Headers of a job that is appended again are left as they came up to this.
    package static let headerBytes = 16 << 10
    /// Sentences in the bodies of outcomes are cut to this.
    package static let messageBytes = 4 << 10
    /// A record of so many bytes is taken by every log.
    package static let sureBytes = 16 << 10
}
