internal import ImageModel
internal import Records

/// Records that retention removed before they were finished: what the last day has of them.
///
/// Lagwatch sees it in the offsets, and workers count it; both tell of the same records, so the larger number counts.
struct LostRecords: Sendable {
    static let milliseconds: Int64 = 86_400_000

    private static let most: Int64 = 1 << 40

    private struct Slot: Hashable {
        let topic: Topic
        let hour: Int64
    }

    private var seen: [Slot: Int64] = [:]
    private var told: [String: (at: Int64, count: Int64)] = [:]
    private var last: Int64?

    mutating func count(_ records: Int64, of topic: Topic, at now: Int64) {
        guard records > 0 else { return }
        seen[Slot(topic: topic, hour: now / 3_600_000), default: 0] += records
        last = now
        seen = seen.filter { $0.key.hour >= (now - Self.milliseconds) / 3_600_000 }
    }

    /// What a worker has counted.
    mutating func count(_ records: Int64, by worker: String, at now: Int64) {
        guard records > 0, told.count < WatchState.workerLimit || told[worker] != nil else { return }
        // A worker may count what it likes: the sum of all of them stays a number.
        told[worker] = (now, min((told[worker]?.count ?? 0) + min(records, Self.most), Self.most))
        last = now
    }

    /// nil: none.
    func summary(at now: Int64) -> WatchReport.LossReport? {
        let seen = seen.filter { $0.key.hour >= (now - Self.milliseconds) / 3_600_000 }
        let counted = seen.values.reduce(0, +)
        let told = told.values.reduce(0) { $0 + ($1.at > now - Self.milliseconds ? $1.count : 0) }
        guard let last, max(counted, told) > 0 else { return nil }
        return WatchReport.LossReport(
            records: max(counted, told), topics: Set(seen.keys.map(\.topic)).sorted { $0.ordinal < $1.ordinal },
            last: last)
    }
}
