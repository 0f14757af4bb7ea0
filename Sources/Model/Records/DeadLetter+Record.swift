package import Canonical
package import Clocks
package import Digest
package import Failures

/// A job that a person must look at: its original bytes, and the reason why it was abandoned.
///
/// A tombstone of the same key, with the dead letter's id, origin and replay count in headers, discards it. A dead letter
/// that a crash repeated has the same three.
package struct DeadLetter: Sendable, Hashable {
    /// Time for which a dead letter is kept.
    package static let kept = Duration.days(90)

    /// Id of the job.
    package var id: String
    package var cause: FailureNote
    /// Attempts in total; 0 if the record was never a job.
    package var attempts: Int
    /// URL, if the bytes name one.
    package var url: ShownURL?
    package var origin: RecordOrigin
    package var at: WallTime
    /// Key as received. A key over the limit is cut to its first bytes and the SHA-256 of the whole key.
    package var key: [UInt8]
    /// Size and SHA-256 of the whole key, if the key was cut.
    package var wholeKey: Whole?
    /// Body as received, or its first bytes if it was larger than a job may be.
    package var body: [UInt8]
    /// Size and SHA-256 of the whole body, if the body was cut.
    package var whole: Whole?
    package var traceparent: String?
    /// Times that the job had been replayed when it died.
    package private(set) var replays: Int
    /// Signature of the job's publisher, unverified, which a replay repeats.
    package private(set) var signature: [UInt8]?

    /// Size and SHA-256 of bytes before they were cut.
    package struct Whole: Sendable, Hashable {
        package var bytes: Int
        package var digest: SHA256Digest
        init(of bytes: [UInt8]) { self.init(bytes: bytes.count, digest: SHA256.digest(of: bytes)) }
        package init(bytes: Int, digest: SHA256Digest) { (self.bytes, self.digest) = (bytes, digest) }
    }

    package init(
        of record: Record, id: String, cause: FailureNote, attempts: Int, url: SourceURL?, at time: WallTime
    ) {
        let value = record.value ?? []
        (self.id, self.cause, self.attempts, self.url, self.at) = (id, cause, attempts, url?.shown, time)
        origin = record.jobOrigin
        (key, body) = (record.jobKey, value)
        if key.count > RecordLimits.keyBytes {
            let whole = Whole(of: key)
            (key, wholeKey) = (Array(key[..<RecordLimits.keptKeyPrefix]) + Array(whole.digest.hex.utf8), whole)
        }
        (traceparent, replays) = (record.traceparent, record.replays)
        signature = record.signature.flatMap { $0.count <= RecordLimits.signatureBytes ? $0 : nil }
        if value.count > RecordLimits.jobBytes { cut() }
    }

    /// Keeps only the beginning of the body.
    package mutating func cut() {
        guard whole == nil, body.count > RecordLimits.keptPrefix else { return }
        whole = Whole(of: body)
        body = Array(body[..<RecordLimits.keptPrefix])
    }

    package func newRecord(partition: PartitionID) -> NewRecord {
        var headers = EventHeader.event(EventHeader.jobDead, id: id, at: at, traceparent: traceparent)
        headers.append(EventHeader.code, cause.code)
        headers.append(EventHeader.message(cause.message))
        headers.append(EventHeader.attempt, String(attempts))
        headers.append(EventHeader.origin, origin.description)
        if let url { headers.append(EventHeader.url, url.description) }
        if let whole {
            headers.append(EventHeader.length, String(whole.bytes))
            headers.append(EventHeader.digest, whole.digest.hex)
        }
        if let wholeKey {
            headers.append(EventHeader.keyLength, String(wholeKey.bytes))
            headers.append(EventHeader.keyDigest, wholeKey.digest.hex)
        }
        headers.append(replays: replays)
        if let signature { headers.append(RecordHeader(EventHeader.signature, signature)) }
        return NewRecord(topic: .dead, partition: partition, key: key, value: body, headers: headers)
    }

    /// The record that discards the dead letter.
    ///
    /// - Parameter replayedAs: id under which its job was published again.
    package func discard(partition: PartitionID, at time: WallTime, replayedAs job: String? = nil) -> NewRecord {
        var headers = EventHeader.event(EventHeader.jobDiscarded, id: id + "/discard", at: time, traceparent: nil)
        headers.append(EventHeader.discards, id)
        headers.append(EventHeader.origin, origin.description)
        headers.append(replays: replays)
        if let job { headers.append(EventHeader.replayedAs, job) }
        return NewRecord(topic: .dead, partition: partition, key: key, value: nil, headers: headers)
    }

    /// Decodes a record of `dead` that is not a tombstone.
    package init(_ record: Record) throws(RecordFailure) {
        guard let body = record.value else { throw .value(place: record.placeText, reason: "it is a tombstone") }
        id = try record.text(of: EventHeader.id)
        cause = FailureNote(
            code: try record.text(of: EventHeader.code), message: try record.text(of: EventHeader.message),
            verdict: .deadLetter)
        // The last attempt counts too.
        let attempts = RecordLimits.attempts.lowerBound...RecordLimits.attempts.upperBound + 1
        self.attempts = Int(try record.integer(of: EventHeader.attempt, in: attempts))
        url = record.header(EventHeader.url).map { ShownURL($0) }
        origin = try record.origin()
        at = record.timestamp
        (key, self.body, traceparent) = (record.key, body, record.traceparent)
        (replays, signature) = (record.replays, record.signature)
        whole = try Whole(record, EventHeader.length, EventHeader.digest)
        wholeKey = try Whole(record, EventHeader.keyLength, EventHeader.keyDigest)
    }

    /// The dead letters that are not discarded, among all records of `dead` in one partition, in their order.
    ///
    /// If a producer gave many jobs one id, each has a dead letter of its own.
    package static func standing(_ records: [Record]) -> (deadLetters: [DeadLetter], unreadable: [RecordFailure]) {
        var deadLetters: [DeadLetter?] = []
        var places: [String: [Int]] = [:]
        var unreadable: [RecordFailure] = []
        for record in records {
            if record.value == nil {
                guard let named = Name(discardedBy: record.headers) else { continue }
                for place in places[named.id] ?? [] where deadLetters[place].map(named.covers) ?? false {
                    deadLetters[place] = nil
                }
                continue
            }
            do throws(RecordFailure) {
                let deadLetter = try DeadLetter(record)
                let isRepeat = places[deadLetter.id]?.contains {
                    deadLetters[$0]?.origin == deadLetter.origin && deadLetters[$0]?.replays == deadLetter.replays
                }
                guard isRepeat != true else { continue }
                places[deadLetter.id, default: []].append(deadLetters.count)
                deadLetters.append(deadLetter)
            } catch {
                unreadable.append(error)
            }
        }
        return (deadLetters.compactMap { $0 }, unreadable)
    }
}

extension DeadLetter.Whole {
    /// Decodes the headers of a cut; nil if nothing was cut.
    fileprivate init?(_ record: Record, _ length: String, _ digest: String) throws(RecordFailure) {
        guard record.header(length) != nil else { return nil }
        let range = Int64(RowLimits.bytes.lowerBound)...Int64(RowLimits.bytes.upperBound)
        let bytes = Int(try record.integer(of: length, in: range))
        let hex = Array(try record.text(of: digest).utf8)
        guard let whole = hex.withUnsafeBufferPointer({ SHA256Digest(hex: $0) }) else {
            throw .header(place: record.placeText, name: digest, reason: "it is no SHA-256")
        }
        self.init(bytes: bytes, digest: whole)
    }
}
