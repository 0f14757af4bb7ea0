internal import Canonical
internal import Failures
internal import ImageModel
package import JSONText

extension Outcome {
    /// Made from the job's, so that a repeat after a crash has the same one and readers drop it.
    package var id: String { job + "/outcome" }

    /// The outcome's event. Where the record was no job, `key` is that record's.
    package func newRecord(partition: PartitionID, key: [UInt8] = []) -> NewRecord {
        var json = JSONWriter()
        return newRecord(partition: partition, key: key, by: &json)
    }

    /// The same by a writer that others are written by as well.
    package func newRecord(partition: PartitionID, key: [UInt8] = [], by json: inout JSONWriter) -> NewRecord {
        NewRecord(
            topic: .outcomes, partition: partition, key: source.map { RecordKey.job($0).bytes } ?? key,
            value: body(by: &json),
            headers: EventHeader.event(EventHeader.jobFinished, id: id, at: at, traceparent: traceparent))
    }

    /// How often a job could be tried in its time, and what of its host held it, tell a shut port from a silent one.
    private var tellsTries: Bool { kind != .expired && failure?.isConfidential != true }

    private func body(by json: inout JSONWriter) -> [UInt8] {
        json.clear()
        json.beginObject()
        json.field("job", job)
        if let source {
            json.key("source")
            json.hex(source.digest)
        }
        // Failures are for people to read.
        json.field("url", kind.isSuccess ? url.fetched : url.shown.description)
        json.field("lane", lane.rawValue)
        json.field("kind", kind.rawValue)
        json.field("attempts", tellsTries ? attempts : 0)
        json.field("at", at)
        json.key("variants")
        variants.write(to: &json)
        if omitted > 0 { json.field("omitted", omitted) }
        if let failure { json.failure(failure) }
        if tellsTries, let heldBy { json.field("heldBy", heldBy.rawValue) }
        json.endObject()
        return json.bytes
    }
}
