package import Canonical
package import Clocks
package import ImageModel
internal import JSONText

/// A job that waits: a row of `parked`, which its owner deletes once the job's outcome is durable.
///
/// The value is the job's original bytes. The headers are a `RetryNote`'s, and the job's own signature and change.
/// The note keeps the lane that the publisher signed; `worksAs` is the lane by which the job is scheduled.
package struct ParkedRow: Sendable, Hashable {
    package let source: SourceKey
    package let identity: JobIdentity
    /// `notBefore` is the time when the job is due, and `host` the host whose share the job belongs to.
    package var note: RetryNote
    /// The note's host, which a row always has.
    package let host: OriginHost
    package var worksAs: Lane
    /// Whether a control moved the job to that lane.
    package var isMoved: Bool
    /// Time at which the job is examined even if its host has no room, because it expires or is abandoned then.
    package var ends: WallTime?
    package let body: [UInt8]
    /// `mz_signature`, `mz_change` and `mz_replays` of the job's record, if it has them.
    package let kept: RecordHeaders

    /// - Parameter host: replaces the note's host.
    package init(
        _ source: SourceKey, _ identity: JobIdentity, _ note: RetryNote, host: OriginHost, worksAs: Lane,
        isMoved: Bool = false, ends: WallTime? = nil, body: [UInt8], kept: RecordHeaders = []
    ) {
        self.isMoved = isMoved
        (self.source, self.identity, self.note, self.host) = (source, identity, note, host)
        (self.worksAs, self.ends, self.body, self.kept) = (worksAs, ends, body, kept)
        self.note.host = host
    }

    private static let keptNames = [EventHeader.signature, EventHeader.change, EventHeader.replays]

    /// Headers of a job's record that its row keeps.
    package static func kept(of record: Record) -> RecordHeaders {
        RecordHeaders(record.headers.filter { keptNames.contains($0.name) })
    }

    package var key: RecordKey { .parked(source, identity) }

    package func newRecord(partition: PartitionID, at time: WallTime) -> NewRecord {
        var record = note.newRecord(topic: .parked, key: key.bytes, body: body, partition: partition, at: time)
        if worksAs != note.lane { record.headers.append(EventHeader.worksAs, worksAs.rawValue) }
        if isMoved { record.headers.append(EventHeader.moved, 1) }
        if let ends { record.headers.append(EventHeader.ends, ends) }
        record.headers.append(kept)
        return record
    }

    /// The job as a record of `retry.1m`, where workers of 0.1.0 look for jobs that wait. It names the job's identity, so
    /// they do not run the job's first record, too, if its offset was not committed.
    package func retried(partition: PartitionID, at time: WallTime) -> NewRecord {
        var note = note
        // There, a host is named only for jobs that wait for nothing else.
        if !note.cause.isOfHost { note.host = nil }
        var record = note.newRecord(
            topic: .retry1m, key: RecordKey.job(source).bytes, body: body, partition: partition, at: time)
        record.headers.append(kept)
        record.headers.append(completed: identity)
        return record
    }

    /// Tombstone that deletes the row.
    package static func drop(_ source: SourceKey, _ identity: JobIdentity, partition: PartitionID) -> NewRecord {
        NewRecord(topic: .parked, partition: partition, key: RecordKey.parked(source, identity).bytes, value: nil)
    }

    init(_ source: SourceKey, _ identity: JobIdentity, _ record: Record, body: [UInt8]) throws(RecordFailure) {
        var note = try RetryNote(record)
        // The owner's clock may have been ahead.
        note.notBefore = min(note.notBefore, record.timestamp + RecordLimits.longestWait)
        guard let host = note.host else {
            throw .header(place: record.placeText, name: EventHeader.host, reason: "it is missing, or is not a host")
        }
        let ends = try record.header(EventHeader.ends).map { _ throws(RecordFailure) in
            try record.time(of: EventHeader.ends)
        }
        self.init(
            source, identity, note, host: host, worksAs: try record.worksAs() ?? note.lane,
            isMoved: record.header(EventHeader.moved) != nil, ends: ends, body: body,
            kept: Self.kept(of: record))
    }
}

/// Source and identity of a parked job, by which its row is known.
package struct ParkedKey: Sendable, Hashable {
    package let source: SourceKey
    package let identity: JobIdentity

    package init(_ source: SourceKey, _ identity: JobIdentity) { (self.source, self.identity) = (source, identity) }

    /// nil if the record is not of a parked job.
    package init?(_ record: Record) {
        guard record.topic == .parked, case .parked(let source, let identity)? = RecordKey(record.key) else { return nil }
        self.init(source, identity)
    }

    /// The parked job that an outcome completes, if it completes one.
    package init?(endedBy outcome: Record) {
        guard let identity = JobIdentity(completedBy: outcome), case .job(let source)? = RecordKey(outcome.key) else { return nil }
        self.init(source, identity)
    }
}

extension Record {
    /// Lane that a parked row's job works as; nil: that of its publisher.
    fileprivate func worksAs() throws(RecordFailure) -> Lane? {
        guard let text = header(EventHeader.worksAs) else { return nil }
        guard let lane = Lane(rawValue: text) else {
            throw .header(
                place: placeText, name: EventHeader.worksAs,
                reason: "\"\(text.prefix(40))\" is not a lane: \(Lane.names)")
        }
        return lane
    }

    /// Lane that a control moved the record's parked job to; nil if none did.
    package func movedTo(from lane: Lane) -> Lane? {
        header(EventHeader.moved) == nil ? nil : header(EventHeader.worksAs).flatMap { Lane(rawValue: $0) } ?? lane
    }

    /// Key of the job's record on the topics of jobs and outcomes.
    var jobKey: [UInt8] {
        ParkedKey(self).map { RecordKey.job($0.source).bytes } ?? key
    }
}

/// One decoded record of `parked`: a step of the index, or the owner of the partition.
package enum ParkedEntry: Sendable, Hashable {
    case change(ParkedChange)
    case epoch(EpochRow)

    package init(_ record: Record) throws(RecordFailure) {
        switch (RecordKey(record.key), record.value) {
        case (.parked(let source, let identity), let body?):
            self = .change(.park(try ParkedRow(source, identity, record, body: body), offset: record.offset))
        case (.parked(let source, let identity), nil): self = .change(.drop(source, identity))
        case (.epoch(let partition), let value?):
            do { self = .epoch(try EpochRow(partition: partition, json: value)) } catch {
                throw .value(place: record.placeText, reason: error.description)
            }
        default:
            throw .key(place: record.placeText, text: String(decoding: record.key.prefix(160), as: UTF8.self))
        }
    }
}

/// One step of the index of parked jobs: a row to keep, or a row to drop (a tombstone).
package enum ParkedChange: Sendable, Hashable {
    /// `offset` is that of the row's record.
    case park(ParkedRow, offset: Int64)
    case drop(SourceKey, JobIdentity)

    package var key: RecordKey {
        switch self {
        case .park(let row, _): row.key
        case .drop(let source, let identity): .parked(source, identity)
        }
    }
}
