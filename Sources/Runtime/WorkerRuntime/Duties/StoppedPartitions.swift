internal import Clocks
internal import Failures
internal import Ports
internal import Records
internal import Telemetry

/// Partitions that this worker holds and does not work on, because their changelog was recreated. The worker
/// reports each partition when it stops. The first one's failure is repeated every ten seconds, because metrics and the
/// page go by it.
struct StoppedPartitions: Duty {
    private var failures: [PartitionID: LogFailure] = [:]
    private var notedAt = Instant.distantPast

    private static let interval = Duration.seconds(10)

    var ids: [PartitionID] { failures.keys.sorted() }
    /// The failure of the first partition; nil: none is stopped.
    var failure: LogFailure? { ids.first.flatMap { failures[$0] } }

    mutating func add(_ partition: PartitionID, _ failure: LogFailure, at now: Instant) {
        failures[partition] = failure
        notedAt = now
    }

    mutating func remove(_ partition: PartitionID) { failures[partition] = nil }

    mutating func tick(_ view: WorkerView) -> [DutyEffect] {
        guard let failure, view.now.monotonic - notedAt >= Self.interval else { return [] }
        notedAt = view.now.monotonic
        let stopped = ids.map { "\($0)" }.joined(separator: ", ")
        return [.note(failure, ["code": .string(failure.code), "partitions": .string(stopped)])]
    }
}
