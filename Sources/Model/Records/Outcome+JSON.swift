internal import Canonical
internal import Failures
internal import ImageModel
package import JSONText

extension Outcome {
    /// Id of the event, derived from the job's id. A repeat after a crash has the same id, and readers drop it. The
    /// outcome of a replay has another one.
    package var id: String { Self.id(of: job, replays: replays) }

    package static func id(of job: String, replays: Int = 0) -> String {
        replays > 0 ? "\(job)/outcome/\(replays)" : job + "/outcome"
    }

    /// Whether an event's id is that of an outcome of the job, of any of its replays.
    static func isID(_ text: String, of job: String) -> Bool {
        let first = id(of: job)
        guard text.hasPrefix(first) else { return false }
        return text == first || Int(text.dropFirst(first.count + 1)).map { text == id(of: job, replays: $0) } ?? false
    }

    /// Event of the outcome. `key` is the record's key if the record was not a job.
    package func newRecord(partition: PartitionID, key: [UInt8] = []) -> NewRecord {
        var json = JSONWriter()
        return newRecord(partition: partition, key: key, by: &json)
    }

    /// The same, with a writer that is reused for several records.
    package func newRecord(partition: PartitionID, key: [UInt8] = [], by json: inout JSONWriter) -> NewRecord {
        NewRecord(
            topic: .outcomes, partition: partition, key: source.map { RecordKey.job($0).bytes } ?? key,
            value: body(by: &json),
            headers: EventHeader.event(EventHeader.jobFinished, id: id, at: at, traceparent: traceparent))
    }

    /// Whether the outcome states attempts and throttling. For expired jobs and confidential failures, they would show
    /// publishers whether a port is closed or silent.
    private var tellsTries: Bool { kind != .expired && failure?.isConfidential != true }

    private func body(by json: inout JSONWriter) -> [UInt8] {
        json.clear()
        json.beginObject()
        json.field("job", job)
        if let source {
            json.key("source")
            json.hex(source.digest)
        }
        // Failures are read by people, so their URL is the shown one.
        json.field("url", kind.isSuccess ? url.fetched : url.shown.description)
        json.field("lane", lane.rawValue)
        json.field("kind", kind.rawValue)
        json.field("attempts", tellsTries ? attempts : 0)
        if replays > 0 { json.field("replays", replays) }
        json.field("at", at)
        json.key("variants")
        variants.write(to: &json)
        if omitted > 0 { json.field("omitted", omitted) }
        if let failure { json.failure(failure) }
        if tellsTries, let throttledBy { json.field("throttledBy", throttledBy.rawValue) }
        json.endObject()
        return json.bytes
    }
}
