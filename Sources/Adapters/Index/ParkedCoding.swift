internal import Canonical
internal import Clocks
internal import Digest
internal import Failures
internal import ImageModel
internal import Ports
internal import Records

/// Encoded form of a parked row in an index file. The constant headers of its record are left out, so a row takes half of
/// the bytes that it has in the log.
enum ParkedCoding {
    /// 2: a control moved the job. Version 1 has all others, as before controls.
    private static let versions = 1...2

    static func encode(_ row: ParkedRow) -> [UInt8] {
        let note = row.note
        var bytes = RowBytes(capacity: row.body.count + 384)
        bytes.put(row.isMoved ? 2 : 1)
        bytes.put(row.source.digest)
        bytes.put(row.identity.description)
        bytes.put(row.host.description)
        bytes.put(row.worksAs.rawValue)
        bytes.put(note.lane.rawValue)
        bytes.put(note.job)
        bytes.put(note.attempt)
        bytes.put(note.crashes)
        bytes.put(note.firstSeen)
        for time in [note.notBefore, note.heldSince, note.failingSince, row.ends] {
            bytes.put(time != nil)
            if let time { bytes.put(time, since: note.firstSeen) }
        }
        bytes.put(note.cause.code)
        bytes.put(note.cause.message)
        bytes.put(note.origin.description)
        bytes.put(note.traceparent ?? "")
        bytes.put(row.kept.packed)
        bytes.put(row.body)
        return bytes.bytes
    }

    /// nil if the bytes are damaged.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> ParkedRow? {
        var parts = RowParts(bytes)
        let version = parts.int()
        guard versions.contains(version) else { return nil }
        let source = SourceKey(parts.digest())
        let identity = JobIdentity(parts.text())
        let host = OriginHost(group: parts.text())
        let (worksAs, lane) = (Lane(rawValue: parts.text()), Lane(rawValue: parts.text()))
        let job = parts.text()
        let limit = 0...Int(RecordLimits.attempts.upperBound)
        let (attempt, crashes, firstSeen) = (parts.int(in: limit), parts.int(in: limit), parts.time())
        let times = (0..<4).map { _ in parts.flag() ? parts.time(since: firstSeen) : nil }
        let (code, message) = (parts.text(), parts.text())
        let origin = RecordOrigin(parts.text())
        let traceparent = parts.text()
        let kept = parts.bytes().withUnsafeBytes { RecordHeaders(packed: $0) }
        let body = parts.bytes()
        guard parts.isWhole, let identity, let worksAs, let lane, let origin, let kept, let notBefore = times[0],
            ([firstSeen] + times.compactMap(\.self)).allSatisfy(RecordLimits.times.contains)
        else { return nil }
        let note = RetryNote(
            job: job, lane: lane, attempt: attempt, notBefore: notBefore, firstSeen: firstSeen, heldSince: times[1],
            failingSince: times[2], crashes: crashes, cause: FailureNote(code: code, message: message, verdict: .retry),
            origin: origin, traceparent: traceparent.isEmpty ? nil : traceparent)
        return ParkedRow(
            source, identity, note, host: host, worksAs: worksAs, isMoved: version == 2, ends: times[3], body: body, kept: kept)
    }
}
