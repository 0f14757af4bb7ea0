import Ledger
import Ports
internal import Records

extension Log {
    /// Passes on what a topic holds now, in slices. Returns its end, or `end` if that is lower.
    @discardableResult
    func each(
        _ topic: Topic, _ partition: PartitionID, from start: Int64 = 0, below end: Int64 = .max, limit: Int = 4_096,
        _ body: ([Record]) async throws -> Void
    ) async throws -> Int64 {
        let bounds = try await bounds(topic, partition)
        var next = max(start, bounds.lowerBound)
        let end = min(end, bounds.upperBound)
        while next < end {
            let records = try await read(topic, partition, from: next, limit: limit)
            // Offsets have gaps, at the end too.
            guard let last = records.last else { break }
            try await body(records.filter { $0.offset < end })
            next = last.offset + 1
        }
        return end
    }

    /// Parked jobs that records of a topic complete, or move elsewhere.
    func parkedCompletions(_ topic: Topic, _ partition: PartitionID, from start: Int64) async throws -> Set<ParkedKey> {
        var answered: Set<ParkedKey> = []
        try await each(topic, partition, from: start) { records in
            for record in records {
                guard let identity = JobIdentity(completedBy: record), case .job(let source)? = RecordKey(record.key)
                else { continue }
                answered.insert(ParkedKey(source, identity))
            }
        }
        return answered
    }

    /// Appends records that may be in the log twice: the ones with an unknown result are appended once more.
    func appendRepeating(_ records: [NewRecord]) async -> [AppendResult] {
        var results = await append(records)
        let doubtful = results.indices.filter { if case .unknown = results[$0] { true } else { false } }
        if !doubtful.isEmpty {
            let again = await append(doubtful.map { records[$0] })
            for (index, result) in zip(doubtful, again) { results[index] = result }
        }
        return results
    }

    /// Appends records that no owner appends.
    func publish(_ records: [NewRecord]) async throws {
        guard !records.isEmpty else { return }
        if let failure = await append(records).lazy.compactMap(\.failure).first { throw failure }
    }
}

/// Rows of a partition's `parked` that count, as far as they were read.
struct ParkedFold {
    /// Every epoch counts as a number, as for an owner of `parked`.
    /// Like an owner that comes after all of them: a row counts although its epoch row is gone, and fences no other.
    private var epochs = EpochFold(after: 0, upTo: 0, own: 0, since: .max, isReckonedHere: false)
    /// Offset of each job's row.
    private(set) var rows: [ParkedKey: Int64] = [:]
    /// Rows that this version cannot read.
    private(set) var unreadable = 0

    /// Epoch of the last owner; 0: there was none.
    var epoch: Int64 { epochs.epoch }

    mutating func read(_ record: Record) {
        let key = ParkedKey(record)
        guard let entry = try? ParkedEntry(record) else {
            if key != nil { unreadable += 1 }
            return
        }
        guard record.epoch != nil,
            epochs.counts(written: record.epoch, opened: entry.fence?.epoch, at: record.offset)
        else { return }
        if let key { rows[key] = record.value == nil ? nil : record.offset }
    }
}
