internal import Clocks
internal import Failures
internal import Ports
internal import Records
internal import Telemetry

/// Partitions that this worker holds and does not work on, because their changelog was recreated. The failure is
/// repeated every ten seconds, because metrics and the page go by it.
struct StoppedPartitions: Duty {
    private var failures: [PartitionID: LogFailure] = [:]
    private var notedAt = Instant.distantPast

    private static let interval = Duration.seconds(10)

    var ids: [PartitionID] { failures.keys.sorted() }
    /// The failure of the first partition; nil: none is stopped.
    var failure: LogFailure? { ids.first.flatMap { failures[$0] } }

    mutating func add(_ partition: PartitionID, _ failure: LogFailure, at now: Instant) -> [DutyEffect] {
        failures[partition] = failure
        return note(at: now)
    }

    mutating func remove(_ partition: PartitionID) { failures[partition] = nil }

    mutating func tick(_ view: WorkerView) -> [DutyEffect] { failures.isEmpty ? [] : note(at: view.now.monotonic) }

    private mutating func note(at now: Instant) -> [DutyEffect] {
        guard now - notedAt >= Self.interval, let partition = ids.first, let failure = failures[partition] else {
            return []
        }
        notedAt = now
        return [
            .note(
                failure,
                [
                    "code": .string(failure.code), "partition": .string("\(partition)"),
                    "stopped": .int(Int64(failures.count)),
                ])
        ]
    }
}
