internal import Canonical
internal import Clocks
internal import ImageModel
internal import Ports
internal import Posix
internal import Records
internal import VariantSpec

/// Records that benchmarks publish one at a time, and the times of their outcomes.
extension Log {
    /// A job for one variant of a few pixels, and its record.
    func smallJob(_ url: String, id: String, _ lane: Lane) throws -> (job: Job, record: NewRecord) {
        let job = try Intake(rules: CanonicalRules()).job(
            url: url, variants: [VariantSpec(width: 8, height: 8, format: .webp)], id: id, lane: lane)
        return (job, job.newRecord(partitions: partitionCount, at: SystemTime.wall))
    }

    func publish(_ records: [NewRecord]) async throws {
        guard await append(records).allSatisfy({ $0.offset != nil }) else {
            throw BenchFailure(description: "A record was not published.")
        }
    }
}

extension Record {
    /// Time from a moment, as time since 1970, to the record; the log's clock counts whole milliseconds.
    func milliseconds(since begin: Duration) -> Double {
        (timestamp - .epoch + .microseconds(500) - begin) / .milliseconds(1)
    }
}
