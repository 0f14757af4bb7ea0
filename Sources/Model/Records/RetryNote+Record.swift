package import Canonical
package import Clocks
package import Failures
package import ImageModel

/// Why and when a job comes again: the headers of a record of a retry topic, whose value is the job's original bytes.
package struct RetryNote: Sendable, Hashable {
    package var job: String
    package var lane: Lane
    /// Attempts that count so far; 0 where the fault was the machine's.
    package var attempt: Int
    package var notBefore: WallTime
    package var firstSeen: WallTime
    /// Since when the machine's fault has held it back; nil if that does not.
    package var heldSince: WallTime?
    /// Since when its host has been at fault; nil if it was not.
    package var failingSince: WallTime?
    /// Owners that died while it was under way, or may have been.
    package var deaths: Int
    /// The host that it waits for, where redirects led there.
    package var host: OriginHost?
    package var cause: FailureNote
    /// The first record of the job, not the last retry.
    package var origin: RecordOrigin
    package var traceparent: String?

    package init(
        job: String, lane: Lane, attempt: Int, notBefore: WallTime, firstSeen: WallTime, heldSince: WallTime? = nil,
        failingSince: WallTime? = nil, deaths: Int = 0, host: OriginHost? = nil, cause: FailureNote,
        origin: RecordOrigin, traceparent: String? = nil
    ) {
        (self.failingSince, self.host) = (failingSince, host)
        (self.job, self.lane, self.attempt, self.notBefore) = (job, lane, attempt, notBefore)
        (self.firstSeen, self.heldSince, self.deaths) = (firstSeen, heldSince, deaths)
        (self.cause, self.origin, self.traceparent) = (cause, origin, traceparent)
    }

    /// The record that makes the job of `body` come again; it stays in the partition that owns its source.
    package func newRecord(
        topic: Topic, key: [UInt8], body: [UInt8], partition: PartitionID, at time: WallTime
    ) -> NewRecord {
        var headers = EventHeader.event(
            EventHeader.jobRetried, id: job, at: time, traceparent: traceparent, reserving: 640)
        headers.append(EventHeader.lane, lane.rawValue)
        headers.append(EventHeader.attempt, Int64(attempt))
        headers.append(EventHeader.notBefore, notBefore)
        headers.append(EventHeader.firstSeen, firstSeen)
        if let heldSince { headers.append(EventHeader.heldSince, heldSince) }
        if let failingSince { headers.append(EventHeader.failingSince, failingSince) }
        if deaths > 0 { headers.append(EventHeader.deaths, Int64(deaths)) }
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
            deaths: try record.header(EventHeader.deaths).map { _ throws(RecordFailure) in
                Int(try record.integer(of: EventHeader.deaths, in: RecordLimits.attempts))
            } ?? 0,
            host: record.header(EventHeader.host).flatMap { $0.utf8.count > 300 ? nil : OriginHost(group: $0) },
            cause: FailureNote(
                code: try record.text(of: EventHeader.code), message: try record.text(of: EventHeader.message),
                verdict: .retry),
            origin: try record.origin(), traceparent: record.traceparent)
    }
}
