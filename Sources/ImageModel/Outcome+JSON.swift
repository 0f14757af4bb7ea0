internal import JSONText

extension Outcome {
    /// Made from the job's, so that a repeat after a crash has the same one and readers drop it.
    package var id: String { job + "/outcome" }

    /// The outcome's event. Where the record was no job, `key` is that record's.
    package func newRecord(partition: PartitionID, key: [UInt8] = []) -> NewRecord {
        NewRecord(
            topic: .outcomes, partition: partition, key: source.map { RecordKey.job($0).bytes } ?? key, value: body,
            headers: EventHeader.event(id: id, type: EventHeader.jobFinished, at: at, traceparent: traceparent))
    }

    private var body: [UInt8] {
        var json = JSONWriter(reserving: 256 + 224 * variants.count)
        json.beginObject()
        json.field("job", job)
        if let source {
            json.key("source")
            json.hex(source.digest)
        }
        json.field("url", url)
        json.field("lane", lane.rawValue)
        json.field("kind", kind.rawValue)
        json.field("attempts", attempts)
        json.field("at", at)
        json.key("variants")
        json.beginArray()
        for place in variants.indices { json.variant(variants[place]) }
        json.endArray()
        if let failure { json.failure(failure) }
        json.endObject()
        return json.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func variant(_ variant: VariantOutcome) {
        beginObject()
        key("spec")
        spec(variant.spec)
        field("kind", variant.kind.rawValue)
        if let row = variant.row { self.row(row, isNew: variant.kind != .unchanged) }
        if let failure = variant.failure { self.failure(failure) }
        endObject()
    }

    private mutating func row(_ row: borrowing VariantRow, isNew: Bool) {
        field("location", row.location)
        field("width", row.size.width)
        field("height", row.size.height)
        field("bytes", row.bytes)
        key("madeFrom")
        provenance(row.madeFrom)
        field("alpha", row.hasAlpha)
        // What a decode gave by the way is told when there was one; later it is in the variant's row. Told with every job
        // whose variants stood already, it would be half of that job's cost.
        guard isNew else { return }
        lookOf(copy row)
        if let facts = row.facts {
            key("source")
            self.facts(facts, size: row.sourceSize)
        }
    }

    fileprivate mutating func failure(_ failure: FailureNote) {
        key("failure")
        beginObject()
        field("code", failure.code)
        field("message", failure.message)
        endObject()
    }
}
