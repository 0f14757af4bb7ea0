internal import Clocks
package import Records

/// The records of a partition that may have crashed its owners.
///
/// An owner that finds that the last one crashed names the jobs that it starts in a durable row, for a while. If it
/// crashes too, the named jobs are quarantined: next time each runs alone, with nothing else in progress in its worker.
/// A job that crashes a worker while it runs alone is not run again.
///
/// So a job is condemned by the third crash in a row at the earliest, and with it at most one flight's jobs. At the
/// first crash no job is named, and the second names the jobs that ran then.
///
/// A kill for another reason must hardly ever hit a job that runs alone. So quarantined jobs wait first, longer the
/// more owners crashed in a row, and a quarantined job that is rendered or completed is cleared. A quarantined job that
/// is retried for another reason is not, because it may not have reached the fatal step.
package struct QuarantinedJobs: Sendable, Equatable {
    /// Number of crashed owners since one last lived long enough. Owners in between that ended cleanly may have met no
    /// quarantined job.
    package private(set) var crashes = 0
    /// Number of owners that crashed while the record was in progress, or may have been.
    private var counts: [RecordPlace: Int] = [:]
    /// Records that the newest durable row names as in progress, and those of a row being written.
    package private(set) var named: Set<RecordPlace> = []
    /// Whether that row says that nothing else is in progress.
    package private(set) var isAlone = false
    /// Quarantined jobs that have run under this owner, and must run again.
    private var outlived: Set<RecordPlace> = []

    private static let crashesToRunAlone = 2
    private static let crashesToCondemn = 3
    /// Maximum records of one row. Further records get no blame.
    private static let limit = 128
    /// Lifetime of an owner that ends the series of crashes.
    package static let trial = Duration.minutes(1)

    package init() {}

    /// Creates the state that an owner starts with.
    ///
    /// - Parameters:
    ///   - row: the last row that earlier owners left.
    ///   - isOwn: whether this worker wrote the row itself, and has not crashed.
    package init(after row: ProgressRow?, isOwn: Bool = false) {
        // Programs that did not record how they ended did not name jobs either.
        guard let row, let isClean = row.isClean else { return }
        let isCrash = !isClean && !isOwn
        crashes = row.crashes + (isCrash ? 1 : 0)
        for quarantinedJob in row.quarantined {
            let count = isCrash ? count(of: quarantinedJob) : quarantinedJob.crashes
            if count > 0 { counts[RecordPlace(quarantinedJob.topic, quarantinedJob.offset)] = count }
        }
    }

    /// Count of crashes after another one. The first crashed owner in a series had named nothing, so a job that the
    /// second one named may have been in progress at both.
    private func count(of quarantinedJob: ProgressRow.QuarantinedJob) -> Int {
        switch quarantinedJob.begun {
        case nil: quarantinedJob.crashes
        case .alone: Self.crashesToCondemn
        case .beside: min(max(quarantinedJob.crashes + 1, crashes), Self.crashesToRunAlone)
        }
    }

    /// Whether jobs are named before they start.
    package var isNaming: Bool { crashes > 0 || !counts.isEmpty }
    package func runsAlone(_ place: RecordPlace) -> Bool { crashes(of: place) >= Self.crashesToRunAlone }
    package func isCondemned(_ place: RecordPlace) -> Bool { crashes(of: place) >= Self.crashesToCondemn }
    /// Number of owners that crashed while the record was in progress, or may have been.
    package func crashes(of place: RecordPlace) -> Int { counts.isEmpty ? 0 : counts[place] ?? 0 }

    package func offsets(of topic: Topic) -> Set<Int64> { Set(counts.keys.lazy.filter { $0.topic == topic }.map(\.offset)) }

    /// Number of quarantined jobs that run alone.
    package var aloneCount: Int { counts.values.count { $0 == Self.crashesToRunAlone } }

    /// Wait of quarantined jobs before their isolated run. A quarantined job that has run alone under this owner does
    /// not wait again.
    package func patience(for places: some Sequence<RecordPlace>) -> Duration {
        if places.allSatisfy({ !runsAlone($0) || outlived.contains($0) }) { return .zero }
        return min(.seconds(5) * max(crashes, 1), .seconds(20))
    }

    /// Quarantined jobs for a row, while the jobs at `places` are in progress.
    package func rows(naming places: Set<RecordPlace>, isAlone: Bool) -> [ProgressRow.QuarantinedJob] {
        let begun: ProgressRow.QuarantinedJob.Begun = isAlone ? .alone : .beside
        let all = Set(counts.keys).union(places).map { place in
            ProgressRow.QuarantinedJob(
                place.topic, place.offset, crashes: crashes(of: place), begun: places.contains(place) ? begun : nil)
        }
        return Array(all.sorted { $0.order < $1.order }.prefix(Self.limit))
    }

    /// Applies a durable row that names these records as in progress.
    package mutating func name(_ places: Set<RecordPlace>, isAlone: Bool) { (named, self.isAlone) = (places, isAlone) }

    /// Notes the crashes that the record lists for its job's earlier records. Only a republished row of `parked` can list
    /// as many as condemn its job: others are written for jobs that run again.
    package mutating func note(_ place: RecordPlace, crashes: Int) {
        let limit = place.topic == .parked ? Self.crashesToCondemn : Self.crashesToRunAlone
        if crashes > 0 { counts[place] = max(self.crashes(of: place), min(crashes, limit)) }
    }

    /// Clears a record that is completed, or whose render its worker survived.
    package mutating func clear(_ place: RecordPlace) {
        if !counts.isEmpty { (counts[place], _) = (nil, outlived.remove(place)) }
    }

    /// Notes that the record's flight is over, with any result.
    package mutating func outlive(_ place: RecordPlace) { if runsAlone(place) { outlived.insert(place) } }

    /// Forgets the topic's records: its log is another one, so these offsets belong to other records.
    package mutating func forget(_ topic: Topic) { counts = counts.filter { $0.key.topic != topic } }

    /// Reduces the suspicion of the topic's records, because its log may differ from the row's. Owners that crashed
    /// before they could record it found the same, and the offsets may be this log's. So those records run alone once
    /// more, and none is taken for the one that crashed earlier owners.
    package mutating func doubt(_ topic: Topic) {
        for (place, count) in counts where place.topic == topic { counts[place] = min(count, Self.crashesToRunAlone) }
    }

    /// Forgets records below the offset. All of them are finished, and some may never have come.
    package mutating func forget(_ topic: Topic, below offset: Int64) {
        if !counts.isEmpty { counts = counts.filter { $0.key.topic != topic || $0.key.offset >= offset } }
    }

    /// Ends the series of crashes, because the owner has lived long enough. Jobs that start from now on are not named.
    package mutating func outlive() { crashes = 0 }
}

extension ProgressRow.QuarantinedJob {
    /// The most crashes first.
    fileprivate var order: (Int, Int, Int64) { (-crashes, topic.ordinal, offset) }
}
