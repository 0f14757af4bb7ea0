package import Clocks

/// Limits of records, the same for every producer.
package enum RecordLimits {
    /// Most bytes of a job. A larger one is refused at publish, and dead-lettered if it is found in a log.
    package static let jobBytes = 64 << 10
    /// Bytes of such a record that its dead letter keeps.
    package static let keptPrefix = 4 << 10
    /// Range of the attempts that a record may state: far more than `retry.attempts` can allow.
    package static let attempts: ClosedRange<Int64> = 0...1_000_000
    /// Range of owners' epochs, with room to count up without an overflow.
    package static let epochs: ClosedRange<Int64> = 0...(1 << 62)
    /// Range of times, from 1970 to the end of the year 9999: the times that can be written as a date.
    package static let times = WallTime.epoch...WallTime(milliseconds: 253_402_300_799_999)
    /// Range of the time that a job may set for an origin at fault.
    package static let retryTimes = Duration.zero...Duration.days(30)
    /// Longest wait of a retry, because no setting allows more (`retry.cap`). A record that states a longer wait is
    /// retried after this time.
    package static let longestWait = Duration.days(1)

    /// The nearest time within the range. A producer's clock or another program may write any number.
    package static func time(_ time: WallTime) -> WallTime {
        min(max(time, times.lowerBound), times.upperBound)
    }
    /// Times that are refused, because a publisher that wrote seconds meant a date from 2001 to 2286.
    static let unixSeconds = WallTime(milliseconds: 1_000_000_000)..<WallTime(milliseconds: 10_000_000_000)
    /// Most bytes of the key of a record that is not a job. Longer keys are cut in the records that complete it.
    /// Mezzotint's own keys have 64 bytes, plus a spec at most.
    package static let keyBytes = 1 << 10
    /// Most bytes of a signature that a dead letter keeps: every valid one is shorter.
    package static let signatureBytes = 256
    /// Bytes that a cut key keeps, before the SHA-256 of the whole key.
    package static let keptKeyPrefix = 256
    /// A republished job keeps its headers unchanged up to this total size.
    package static let headerBytes = 16 << 10
    /// Most bytes of a sentence in the body of an outcome.
    package static let messageBytes = 4 << 10
    /// Size of a record that every log accepts.
    package static let sureBytes = 16 << 10
}
