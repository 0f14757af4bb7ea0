package import Clocks
internal import ImageModel
internal import JSONText

/// Names of record headers: CloudEvents in binary mode, W3C trace context, and Mezzotint's own.
package enum EventHeader {
    package static let id = "ce_id"
    static let time = "ce_time"
    package static let traceparent = "traceparent"
    /// Attempts so far.
    package static let attempt = "mz_attempt"
    /// Earliest start of a retry, in milliseconds since 1970.
    package static let notBefore = "mz_not_before"
    /// First arrival of the job, in milliseconds since 1970.
    package static let firstSeen = "mz_first_seen"
    /// On a retry: time since which a fault of the machine has held the job back, in milliseconds since 1970.
    package static let heldSince = "mz_held_since"
    /// On a retry: time since which the job's host has been at fault, in milliseconds since 1970.
    package static let failingSince = "mz_failing_since"
    /// On a retry: owners that crashed, or may have crashed, while the job was in progress. Left out if there were
    /// none.
    package static let crashes = "mz_deaths"
    package static let code = "mz_code"
    package static let message = "mz_message"
    /// Original record of the bytes: `jobs.fast-3-17`.
    package static let origin = "mz_origin"
    /// Record of the same partition that an outcome, a dead letter or a retry completes; see `CompletedRecord`.
    package static let answers = "mz_answers"
    package static let lane = "mz_lane"
    package static let url = "mz_url"
    /// On a dead letter with a cut body: size of the whole body; `digest` is its SHA-256.
    package static let length = "mz_length"
    package static let digest = "mz_sha256"
    /// On a dead letter with a cut key: the same values for the whole key.
    package static let keyLength = "mz_key_length"
    package static let keyDigest = "mz_key_sha256"
    /// On a tombstone of `dead`: id of the dead letter that it discards. `origin` and `replays` name the letter's
    /// record and replay.
    package static let discards = "mz_discards"
    /// On a tombstone of `dead`: id under which the dead letter's job was published again.
    package static let replayedAs = "mz_replayed_as"
    /// On a job that `dead replay` published again, its parked rows and its dead letter: number of the replay, from 1.
    package static let replays = "mz_replays"
    /// On a republished job: the original record, whose key was not the key that the canonical rules give its URL.
    package static let rekeyed = "mz_rekeyed"
    /// On a job: signature of its publisher by a key of `jobs.keys`; see `JobKeys`.
    package static let signature = "mz_signature"
    /// On a worker's own job that re-renders the variants of a changed source: the change to report.
    package static let change = "mz_change"
    /// On a parked row: lane by which the job is scheduled, if it differs from the lane that its publisher signed.
    package static let worksAs = "mz_works_as"
    /// On a parked row: a control moved the job to the lane by which it is scheduled.
    package static let moved = "mz_moved"
    /// On a parked row: time at which the job is examined even if its host has no room, because it expires or is
    /// abandoned then. Left out if it does neither.
    package static let ends = "mz_ends"
    /// On a retry: the host that it waits for, if redirects led to another host than the URL's. On a parked row: the host
    /// whose share the job belongs to.
    package static let host = "mz_host"
    /// On rows: epoch of the owner that published them.
    package static let epoch = "mz_epoch"

    /// Headers of every event. The constant ones are packed once; `kind` is one of the values below.
    static func event(
        _ kind: RecordHeaders, id: String, at time: WallTime, traceparent: String?, reserving bytes: Int = 288
    ) -> RecordHeaders {
        var headers = RecordHeaders(reserving: bytes)
        headers.append(kind)
        headers.append(Self.id, id)
        headers.append(Self.time, upTo: Timestamp.length) { Timestamp.write(time, to: $0) }
        if let traceparent { headers.append(Self.traceparent, traceparent) }
        return headers
    }

    static let jobRequested = kind("job.requested", source: "/mezzotint/publish")
    static let jobRetried = kind("job.retried")
    static let jobFinished = kind("job.finished")
    static let jobDead = kind("job.dead")
    static let jobDiscarded = kind("job.discarded")
    static let variantStored = kind("variant.stored")
    static let sourceFetched = kind("source.fetched")
    static let partitionOwned = kind("partition.owned")
    static let partitionProgressed = kind("partition.progressed")
    static let originReported = kind("origin.told")
    static let sourceChanged = kind("source.changed")
    static let variantRefreshed = kind("variant.refreshed")
    static let jobParked = kind("job.parked")
    static let controlRequested = kind("control.requested", source: "/mezzotint/control")
    static let controlFinished = kind("control.finished")
    /// Constant headers of each kind of event. The embedded log stores a kind by its index here, so new kinds are added
    /// at the end.
    package static let kinds = [
        jobFinished, jobRequested, jobRetried, jobDead, jobDiscarded, variantStored, sourceFetched, partitionOwned,
        partitionProgressed, originReported, sourceChanged, variantRefreshed, jobParked, controlRequested, controlFinished,
    ]
    /// All event types, for the reference page.
    package static let types = kinds.compactMap { $0[type].map { String(decoding: $0, as: UTF8.self) } }

    static let type = "ce_type"

    /// Each type ends with the version of its body.
    private static func kind(_ name: String, source: String = "/mezzotint") -> RecordHeaders {
        [
            RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_source", source),
            RecordHeader(type, "mezzotint.\(name).v1"), RecordHeader("content-type", "application/json"),
        ]
    }

    /// Most bytes of a sentence in a header; longer ones are cut at the end of a Unicode scalar.
    package static let messageLimit = 1024

    /// Whether records of this system carry the header.
    package static func isOurs(_ name: String) -> Bool {
        name == traceparent || name == "content-type" || name.hasPrefix("ce_") || name.hasPrefix("mz_")
    }

    static func message(_ text: String) -> RecordHeader { RecordHeader(message, text.cut(to: messageLimit)) }
}

extension String {
    /// The text cut at the end of a Unicode scalar, with an ellipsis.
    func cut(to limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(self[..<end]) + "…"
    }
}

extension Record {
    /// Time at which the record was written, by its writer's clock; nil if the record does not state it.
    package var writtenAt: WallTime? { headers.withFirst(EventHeader.time, Timestamp.time) ?? nil }

    /// W3C trace context, unchanged if it is well-formed. A malformed one is ignored without an error.
    package var traceparent: String? {
        guard let value = headers[EventHeader.traceparent] else { return nil }
        let dashes = [2, 35, 52]
        let isWellFormed =
            value.count == 55
            && value.indices.allSatisfy { i in
                dashes.contains(i) ? value[i] == 45 : value[i] &- 48 < 10 || value[i] &- 97 < 6
            }
        return isWellFormed ? String(decoding: value, as: UTF8.self) : nil
    }

    /// Times that `dead replay` published the record's job again. Any publisher may write the header: a text that is no
    /// such number counts as 0.
    package var replays: Int { headers.replays }

    func text(of name: String) throws(RecordFailure) -> String {
        guard let text = header(name) else { throw .header(place: placeText, name: name, reason: "it is missing") }
        return text
    }

    func integer(of name: String, in range: ClosedRange<Int64>) throws(RecordFailure) -> Int64 {
        let text = try text(of: name)
        guard let value = Int64(text), range.contains(value) else {
            throw .header(
                place: placeText, name: name,
                reason: "\"\(text.prefix(40))\" is not a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// Decodes a time, limited to the range of dates.
    func time(of name: String) throws(RecordFailure) -> WallTime {
        RecordLimits.time(WallTime(milliseconds: try integer(of: name, in: .min ... .max)))
    }

    func origin() throws(RecordFailure) -> RecordOrigin {
        let text = try text(of: EventHeader.origin)
        guard let origin = RecordOrigin(text) else {
            throw .header(
                place: placeText, name: EventHeader.origin, reason: "\"\(text.prefix(80))\" is not a record's position")
        }
        return origin
    }

    func lane() throws(RecordFailure) -> Lane {
        let text = try text(of: EventHeader.lane)
        guard let lane = Lane(rawValue: text) else {
            throw .header(
                place: placeText, name: EventHeader.lane, reason: "\"\(text.prefix(40))\" is not a lane: \(Lane.names)")
        }
        return lane
    }
}

extension RecordHeaders {
    var replays: Int {
        let text = withFirst(EventHeader.replays) { String(decoding: $0, as: UTF8.self) }
        return text.flatMap { Int64($0) }.flatMap { RecordLimits.attempts.contains($0) ? Int($0) : nil } ?? 0
    }

    mutating func append(replays count: Int) {
        if count > 0 { append(EventHeader.replays, Int64(count)) }
    }
}
