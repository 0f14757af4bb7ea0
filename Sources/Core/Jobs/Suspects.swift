internal import Clocks
package import Records

/// Which of a partition's records may be what its owners died of.
///
/// An owner that finds that the last one died names what it begins in a durable row, for a while. What is named when it
/// dies too is a suspect: it runs alone next time, with nothing else under way in its worker. What a worker dies of that
/// runs nothing else is not run again. So one death gives away at most one flight's jobs, and only a third one in a row:
/// the first is named by nobody, the second names what ran then.
///
/// Whoever kills workers for other reasons must hardly ever hit a job that runs alone. So suspects wait first, the longer
/// the more owners died in a row, and one that is rendered or answered is cleared. One that is tried again for another
/// reason is not: it may not have come to what kills.
package struct Suspects: Sendable, Hashable {
    /// Owners that died since one last lived long enough. Those between that left in good order may have met nothing.
    package private(set) var deaths = 0
    /// Owners that died while the record was under way, or may have been.
    private var counts: [RecordPlace: Int] = [:]
    /// What the newest durable row has as under way, and one that is on its way too.
    package private(set) var named: Set<RecordPlace> = []
    /// Whether that row says that nothing else is.
    package private(set) var isAlone = false
    /// Suspects that have run under this owner, and are to run again.
    private var outlived: Set<RecordPlace> = []

    private static let deathsToRunAlone = 2
    private static let deathsToDie = 3
    /// Records of one row: what is beyond is blamed for nothing.
    private static let limit = 128
    /// An owner that has lived for so long ends the run of deaths.
    package static let trial = Duration.minutes(1)

    package init() {}

    /// What an owner begins with.
    ///
    /// - Parameters:
    ///   - row: the last that earlier owners left.
    ///   - isOwn: this worker wrote it itself, and lives.
    package init(after row: ProgressRow?, isOwn: Bool = false) {
        // Programs that did not tell how they ended did not name anything either.
        guard let row, let isClean = row.isClean else { return }
        let isDeath = !isClean && !isOwn
        deaths = row.deaths + (isDeath ? 1 : 0)
        for suspect in row.suspects {
            let count = isDeath ? count(of: suspect) : suspect.deaths
            if count > 0 { counts[RecordPlace(suspect.topic, suspect.offset)] = count }
        }
    }

    /// The first owner in a row that died had named nothing: what the second one named may have been under way then, too.
    private func count(of suspect: ProgressRow.Suspect) -> Int {
        switch suspect.begun {
        case nil: suspect.deaths
        case .alone: Self.deathsToDie
        case .beside: min(max(suspect.deaths + 1, deaths), Self.deathsToRunAlone)
        }
    }

    /// Whether what is begun is named first.
    package var isNaming: Bool { deaths > 0 || !counts.isEmpty }
    package func runsAlone(_ place: RecordPlace) -> Bool { deaths(of: place) >= Self.deathsToRunAlone }
    package func isCondemned(_ place: RecordPlace) -> Bool { deaths(of: place) >= Self.deathsToDie }
    /// Of owners while the record was under way, or may have been.
    package func deaths(of place: RecordPlace) -> Int { counts.isEmpty ? 0 : counts[place] ?? 0 }

    /// Those that run alone.
    package var aloneCount: Int { counts.values.count { $0 == Self.deathsToRunAlone } }

    /// How long those wait for their turn. What has run alone under this owner needs not wait again.
    package func patience(for places: some Sequence<RecordPlace>) -> Duration {
        if places.allSatisfy({ !runsAlone($0) || outlived.contains($0) }) { return .zero }
        return min(.seconds(5) * max(deaths, 1), .seconds(20))
    }

    /// As a row tells it, while these are under way.
    package func rows(naming places: Set<RecordPlace>, isAlone: Bool) -> [ProgressRow.Suspect] {
        let begun: ProgressRow.Suspect.Begun = isAlone ? .alone : .beside
        let all = Set(counts.keys).union(places).map { place in
            ProgressRow.Suspect(
                place.topic, place.offset, deaths: deaths(of: place), begun: places.contains(place) ? begun : nil)
        }
        return Array(all.sorted { $0.order < $1.order }.prefix(Self.limit))
    }

    /// A row that has these as under way is durable.
    package mutating func name(_ places: Set<RecordPlace>, isAlone: Bool) { (named, self.isAlone) = (places, isAlone) }

    /// The record tells of deaths of its job's earlier records. What is condemned is not run again, so they are fewer.
    package mutating func note(_ place: RecordPlace, deaths: Int) {
        if deaths > 0 { counts[place] = max(self.deaths(of: place), min(deaths, Self.deathsToRunAlone)) }
    }

    /// The record is answered, or its worker outlived its render.
    package mutating func clear(_ place: RecordPlace) {
        if !counts.isEmpty { (counts[place], _) = (nil, outlived.remove(place)) }
    }

    /// What ran with the record is over, whatever became of it.
    package mutating func outlive(_ place: RecordPlace) { if runsAlone(place) { outlived.insert(place) } }

    /// The topic's log is another one: these offsets are other records'.
    package mutating func forget(_ topic: Topic) { counts = counts.filter { $0.key.topic != topic } }

    /// The topic's log may be another one than the row's. Owners that died before they could say so found the same, and the
    /// offsets may be this log's: those records run alone once more, and none is taken for what killed before.
    package mutating func doubt(_ topic: Topic) {
        for (place, count) in counts where place.topic == topic { counts[place] = min(count, Self.deathsToRunAlone) }
    }

    /// All before the offset is finished, and some of it may never have come.
    package mutating func forget(_ topic: Topic, below offset: Int64) {
        if !counts.isEmpty { counts = counts.filter { $0.key.topic != topic || $0.key.offset >= offset } }
    }

    /// The owner has lived long enough: what is begun from now on is not named.
    package mutating func outlive() { deaths = 0 }
}

extension ProgressRow.Suspect {
    /// The most suspect first.
    fileprivate var order: (Int, Int, Int64) { (-deaths, topic.ordinal, offset) }
}
