internal import Clocks
internal import ImageModel
internal import Records

/// Records that retention removed before they were finished, within the last day.
///
/// Lagwatch sees losses in the offsets, workers count them, and progress rows outlive both. All three cover the same
/// records, so the largest number counts.
struct LostRecords: Sendable {
    static let span = ProgressRow.Lost.span

    private static let most: Int64 = 1 << 40

    private struct Slot: Hashable {
        let topic: Topic
        /// Start of the hour.
        let hour: WallTime
    }

    private var seen: [Slot: Int64] = [:]
    private var reported: [String: (at: WallTime, count: Int64)] = [:]
    private var rows: [PartitionID: ProgressRow.Lost] = [:]
    private var last: WallTime?

    mutating func count(_ records: Int64, of topic: Topic, at now: WallTime) {
        guard records > 0 else { return }
        seen[Slot(topic: topic, hour: now.begun(.hours(1))), default: 0] += records
        last = now
        seen = seen.filter { $0.key.hour >= (now - Self.span).begun(.hours(1)) }
    }

    /// Adds a worker's own count.
    mutating func count(_ records: Int64, by worker: String, at now: WallTime) {
        guard records > 0, reported.count < WatchState.workerLimit || reported[worker] != nil else { return }
        // A worker may report any count. The sum over all of them must not overflow.
        reported[worker] = (now, min((reported[worker]?.count ?? 0) + min(records, Self.most), Self.most))
        last = now
    }

    /// Sets the losses in a partition's newest progress row.
    mutating func take(_ lost: ProgressRow.Lost?, of partition: PartitionID) { rows[partition] = lost }

    /// nil: none.
    func summary(at now: WallTime) -> WatchReport.LossReport? {
        let seen = seen.filter { $0.key.hour >= (now - Self.span).begun(.hours(1)) }
        let counted = seen.values.reduce(0, +)
        let reported = reported.values.reduce(0) { $0 + ($1.at > now - Self.span ? $1.count : 0) }
        let rows = rows.values.filter { $0.isRecent(at: now) }
        let records = max(counted, reported, rows.reduce(0) { $0 + min($1.records, Self.most) })
        guard records > 0, let last = (rows.map(\.at) + [last].compactMap(\.self)).max() else { return nil }
        return WatchReport.LossReport(
            records: records, topics: Set(seen.keys.map(\.topic)).sorted { $0.ordinal < $1.ordinal },
            last: last)
    }
}
