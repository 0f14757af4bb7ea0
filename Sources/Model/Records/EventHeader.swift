package import Clocks
internal import ImageModel
internal import JSONText

/// Names of the headers that records carry: CloudEvents in binary mode, W3C trace context, and Mezzotint's own.
package enum EventHeader {
    package static let id = "ce_id"
    static let time = "ce_time"
    package static let traceparent = "traceparent"
    /// Attempts that were made so far.
    package static let attempt = "mz_attempt"
    /// Milliseconds since 1970, before which a retry is not begun.
    package static let notBefore = "mz_not_before"
    /// Milliseconds since 1970 when the job first came.
    package static let firstSeen = "mz_first_seen"
    /// On a retry: milliseconds since 1970 since when the machine's fault has held the job back.
    package static let heldSince = "mz_held_since"
    /// On a retry: milliseconds since 1970 since when the job's host has been at fault.
    package static let failingSince = "mz_failing_since"
    /// On a retry: owners that died while the job was under way, or may have been; left out where none did.
    package static let deaths = "mz_deaths"
    package static let code = "mz_code"
    package static let message = "mz_message"
    /// The record that the bytes came from: `jobs.fast-3-17`.
    package static let origin = "mz_origin"
    /// The record of its partition that an outcome, a dead letter or a retry answers: see `AnsweredRecord`.
    package static let answers = "mz_answers"
    package static let lane = "mz_lane"
    package static let url = "mz_url"
    /// On a dead letter whose body was cut: what the whole record had.
    package static let length = "mz_length"
    package static let digest = "mz_sha256"
    /// On a dead letter whose key was cut: the same of the key that the record had.
    package static let keyLength = "mz_key_length"
    package static let keyDigest = "mz_key_sha256"
    /// On a tombstone of `dead`: the id of the dead letter that it takes back.
    package static let discards = "mz_discards"
    /// On a tombstone of `dead`: the id under which the dead letter's job was published again.
    package static let replayedAs = "mz_replayed_as"
    /// On a job that came under another key than our rules make of its URL, and was appended again under the right one.
    package static let rekeyed = "mz_rekeyed"
    /// On a job: who published it, by one of `jobs.keys`. See `JobKeys`.
    package static let signature = "mz_signature"
    /// On a job of workers' own that remakes what is stored of a source that has changed: what is to be told of that.
    package static let change = "mz_change"
    /// The host that a retry waits for, where redirects lead to another than its URL's.
    package static let host = "mz_host"
    /// On rows: the epoch of the owner who announced them.
    package static let epoch = "mz_epoch"

    /// What every event has. What never changes of it is packed once, and `kind` is one of those below.
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
    static let originTold = kind("origin.told")
    static let sourceChanged = kind("source.changed")
    static let variantRefreshed = kind("variant.refreshed")
    /// What the headers of every event begin with, kind by kind. The embedded log stores a kind by its place here: new ones
    /// come last.
    package static let kinds = [
        jobFinished, jobRequested, jobRetried, jobDead, jobDiscarded, variantStored, sourceFetched, partitionOwned,
        partitionProgressed, originTold, sourceChanged, variantRefreshed,
    ]
    /// Every type of event, for the reference page.
    package static let types = kinds.compactMap { $0[type].map { String(decoding: $0, as: UTF8.self) } }

    private static let type = "ce_type"

    /// A type ends with the version of its body.
    private static func kind(_ name: String, source: String = "/mezzotint") -> RecordHeaders {
        [
            RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_source", source),
            RecordHeader(type, "mezzotint.\(name).v1"), RecordHeader("content-type", "application/json"),
        ]
    }

    /// Sentences in headers are cut to this many bytes, at a scalar's end.
    package static let messageLimit = 1024

    /// Whether a header is of those that records of this system carry.
    package static func isOurs(_ name: String) -> Bool {
        name == traceparent || name == "content-type" || name.hasPrefix("ce_") || name.hasPrefix("mz_")
    }

    static func message(_ text: String) -> RecordHeader { RecordHeader(message, text.cut(to: messageLimit)) }
}

extension String {
    /// At a scalar's end, and with a sign that something is left out.
    func cut(to limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(self[..<end]) + "…"
    }
}

extension Record {
    /// When it was written, by the clock of who wrote it; nil if it does not say.
    package var writtenAt: WallTime? { headers.withFirst(EventHeader.time, Timestamp.time) ?? nil }

    /// W3C trace context: passed through as it came, if it is of the right form; a broken one is nobody's error.
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

    func text(of name: String) throws(RecordFailure) -> String {
        guard let text = header(name) else { throw .header(place: placeText, name: name, reason: "it is missing") }
        return text
    }

    func integer(of name: String, in range: ClosedRange<Int64>) throws(RecordFailure) -> Int64 {
        let text = try text(of: name)
        guard let value = Int64(text), range.contains(value) else {
            throw .header(
                place: placeText, name: name,
                reason: "\"\(text.prefix(40))\" is no whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// Bounded.
    func time(of name: String) throws(RecordFailure) -> WallTime {
        RecordLimits.time(WallTime(milliseconds: try integer(of: name, in: .min ... .max)))
    }

    func origin() throws(RecordFailure) -> RecordOrigin {
        let text = try text(of: EventHeader.origin)
        guard let origin = RecordOrigin(text) else {
            throw .header(
                place: placeText, name: EventHeader.origin, reason: "\"\(text.prefix(80))\" is no place of a record")
        }
        return origin
    }

    func lane() throws(RecordFailure) -> Lane {
        let text = try text(of: EventHeader.lane)
        guard let lane = Lane(rawValue: text) else {
            throw .header(
                place: placeText, name: EventHeader.lane, reason: "\"\(text.prefix(40))\" is no lane: \(Lane.names)")
        }
        return lane
    }
}
