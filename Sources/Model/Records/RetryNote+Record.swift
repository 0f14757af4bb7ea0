package import Canonical
package import Clocks
package import Failures
package import ImageModel

/// Reason and time of a retry: the headers of a record of a retry topic or of a parked row, whose value is the job's
/// original bytes.
package struct RetryNote: Sendable, Hashable {
    package var job: String
    package var lane: Lane
    /// Attempts that count so far; 0 if only the machine was at fault.
    package var attempt: Int
    package var notBefore: WallTime
    package var firstSeen: WallTime
    /// Time since which a fault of the machine has held the job back; nil if none does.
    package var heldSince: WallTime?
    /// Time since which the job's host has been at fault; nil if it has not.
    package var failingSince: WallTime?
    /// Owners that crashed, or may have crashed, while the job was in progress.
    package var crashes: Int
    /// Host that the job waits for, if redirects led to another one than the URL's.
    package var host: OriginHost?
    package var cause: FailureNote
    /// First record of the job, not its last retry.
    package var origin: RecordOrigin
    package var traceparent: String?

    package init(
        job: String, lane: Lane, attempt: Int, notBefore: WallTime, firstSeen: WallTime, heldSince: WallTime? = nil,
        failingSince: WallTime? = nil, crashes: Int = 0, host: OriginHost? = nil, cause: FailureNote,
        origin: RecordOrigin, traceparent: String? = nil
    ) {
        (self.failingSince, self.host) = (failingSince, host)
        (self.job, self.lane, self.attempt, self.notBefore) = (job, lane, attempt, notBefore)
        (self.firstSeen, self.heldSince, self.crashes) = (firstSeen, heldSince, crashes)
        (self.cause, self.origin, self.traceparent) = (cause, origin, traceparent)
    }

    /// Record that retries the job of `body`. It stays in the partition that owns the source.
    package func newRecord(
        topic: Topic, key: [UInt8], body: [UInt8], partition: PartitionID, at time: WallTime
    ) -> NewRecord {
        var headers = EventHeader.event(
            topic == .parked ? EventHeader.jobParked : EventHeader.jobRetried, id: job, at: time, traceparent: traceparent, reserving: 640)
        headers.append(EventHeader.lane, lane.rawValue)
        headers.append(EventHeader.attempt, Int64(attempt))
        headers.append(EventHeader.notBefore, notBefore)
        headers.append(EventHeader.firstSeen, firstSeen)
        if let heldSince { headers.append(EventHeader.heldSince, heldSince) }
        if let failingSince { headers.append(EventHeader.failingSince, failingSince) }
        if crashes > 0 { headers.append(EventHeader.crashes, Int64(crashes)) }
        if let host { headers.append(EventHeader.host, host.description) }
        headers.append(EventHeader.code, cause.code)
        headers.append(EventHeader.message, cause.message.cut(to: EventHeader.messageLimit))
        headers.append(EventHeader.origin, upTo: RecordOrigin.textLimit, origin.write)
        return NewRecord(topic: topic, partition: partition, key: key, value: body, headers: headers)
    }

    package init(_ record: Record) throws(RecordFailure) {
        self.init(
            job: try record.text(of: EventHeader.id), lane: try record.lane(),
            attempt: Int(try record.integer(of: EventHeader.attempt, in: RecordLimits.attempts)),
            notBefore: try record.time(of: EventHeader.notBefore),
            firstSeen: try record.time(of: EventHeader.firstSeen),
            heldSince: try record.header(EventHeader.heldSince).map { _ throws(RecordFailure) in
                try record.time(of: EventHeader.heldSince)
            },
            failingSince: try record.header(EventHeader.failingSince).map { _ throws(RecordFailure) in
                try record.time(of: EventHeader.failingSince)
            },
            crashes: try record.header(EventHeader.crashes).map { _ throws(RecordFailure) in
                Int(try record.integer(of: EventHeader.crashes, in: RecordLimits.attempts))
            } ?? 0,
            host: record.header(EventHeader.host).flatMap { $0.utf8.count > 300 ? nil : OriginHost(group: $0) },
            cause: FailureNote(
                code: try record.text(of: EventHeader.code), message: try record.text(of: EventHeader.message),
                verdict: .retry),
            origin: try record.origin(), traceparent: record.traceparent)
    }
}
