package import Clocks
internal import ImageModel
package import Ports
internal import Records

/// Lag of some topic-partitions; nil if it is not known.
package struct Lag: Sendable, Hashable {
    private var counted: Int64?
    /// Latest possible append time of the oldest record; nil also if no record waits.
    package private(set) var oldest: WallTime?
    /// Number of partitions that are not counted in.
    package private(set) var unknown: Int

    init(records: Int64? = nil, oldest: WallTime? = nil, unknown: Int = 0) {
        (counted, self.oldest, self.unknown) = (records, oldest, unknown)
    }

    /// nil if the lag is not known: an empty readable part shows nothing about an unreadable one.
    package var records: Int64? { counted == 0 && unknown > 0 ? nil : counted }

    /// 0 if no record waits; nil if the age is not known.
    package func age(at now: WallTime) -> Duration? {
        oldest.map { max(.zero, now - $0) } ?? (records == 0 ? .zero : nil)
    }

    mutating func add(_ place: PlaceWatch) {
        guard let unfinished = place.unfinished, place.failure == nil else {
            unknown += 1
            return
        }
        counted = (counted ?? 0) + unfinished
        if let appended = place.oldest { oldest = min(oldest ?? appended, appended) }
    }

    mutating func add(_ parked: ProgressRow.Parked?) {
        guard let parked else {
            unknown += 1
            return
        }
        counted = (counted ?? 0) + parked.jobs
        if let seen = parked.oldest { oldest = min(oldest ?? seen, seen) }
    }
}

extension WatchState {
    func lag(of lane: Lane, at now: WallTime) -> Lag { lag(of: [.jobs(lane)]) }

    func lag(of topics: [Topic]) -> Lag {
        var lag = Lag()
        for topic in topics {
            for partition in 0..<partitionCount { lag.add(place(topic, partition)) }
        }
        return lag
    }

    func lag(of topics: [Topic], in partition: Int) -> Lag {
        var lag = Lag()
        for topic in topics { lag.add(place(topic, partition)) }
        return lag
    }

    /// Lag of jobs that wait after they were read: parked ones, and those that an earlier version left in retry topics.
    func waitingLag() -> Lag {
        var lag = lag(of: Topic.retries)
        for partition in partitions { lag.add(partition.parked) }
        return lag
    }

    /// The same of a partition. The age of jobs in retry topics comes from samples, and is unknown until each topic with
    /// records was sampled.
    func waitingLag(in partition: Int) -> Lag {
        var all = lag(of: Topic.retries, in: partition)
        all.add(partitions[partition].parked)
        let isSampled = retryPlaces(partition).allSatisfy { $0.sample?.seen ?? 0 > 0 }
        let oldest = isSampled ? parkedSinceByLane(in: partition).values.min() : nil
        return Lag(records: all.records, oldest: oldest, unknown: all.unknown)
    }

    /// Lag of a partition's `parked`.
    func parkedLag(in partition: Int) -> Lag {
        var lag = Lag()
        lag.add(partitions[partition].parked)
        return lag
    }

    /// Time when the first waiting job of each lane was first seen. A record that is no job belongs to the lane
    /// `unknown`.
    func parkedSinceByLane(in partition: Int) -> [String: WallTime] {
        var since: [String: WallTime] = [:]
        for lane in Lane.allCases { since[lane.rawValue] = partitions[partition].parked?.lanes[lane].oldest }
        for place in retryPlaces(partition) {
            for (group, figures) in place.sample?.groups ?? [:] {
                since[group.lane] = min(since[group.lane] ?? figures.since, figures.since)
            }
        }
        return since
    }

    private func retryPlaces(_ partition: Int) -> [PlaceWatch] {
        Topic.retries.map { place($0, partition) }.filter { $0.unfinished ?? 0 > 0 }
    }

    func place(_ topic: Topic, _ partition: Int) -> PlaceWatch {
        index(topic, PartitionID(Int32(partition))).map { places[$0] } ?? PlaceWatch()
    }
}

extension WatchState {
    /// Topic-partitions to ask next for the append time of their oldest record, the most urgent first. Unknown ones
    /// come first, then those whose age has only an upper bound.
    package func headsToRead(_ limit: Int) -> [LogPoint] {
        let places = worked { $0.unfinished ?? 0 > 0 && $0.failure == nil && !$0.isHeadExact }
        return places.sorted { ($0.place.headAt ?? .distantPast) < ($1.place.headAt ?? .distantPast) }
            .prefix(limit).map { LogPoint($0.topic, $0.partition, $0.place.start) }
    }

    /// Topic-partitions to sample next: those without a sample, then those whose last one was longest ago.
    package func partitionsToSample(_ limit: Int) -> [LogPoint] {
        let places = worked { $0.unfinished ?? 0 > 0 && $0.failure == nil }
        let parked = partitions.enumerated().filter { $1.parked?.jobs != 0 }.compactMap { number, watch in
            // The newest records: older rows may have ended, until they are compacted.
            watch.parkedBounds.map { bounds in
                let start = max(bounds.lowerBound, bounds.upperBound - Int64(PartitionWatch.parkedSampled))
                return (at: watch.parkedSampledAt, point: LogPoint(.parked, PartitionID(Int32(number)), start))
            }
        }
        let all = parked + places.map { (at: $0.place.sampledAt, point: LogPoint($0.topic, $0.partition, $0.place.start)) }
        return all.sorted { ($0.at ?? .distantPast) < ($1.at ?? .distantPast) }.prefix(limit).map(\.point)
    }

    /// Topic-partitions that match, retry topics first, because their records contain the reason. Then by lane and
    /// partition.
    private func worked(
        where isWanted: (PlaceWatch) -> Bool
    ) -> [(topic: Topic, partition: PartitionID, place: PlaceWatch)] {
        var found: [(topic: Topic, partition: PartitionID, place: PlaceWatch)] = []
        for topic in Topic.retries + Topic.lanes {
            for partition in 0..<partitionCount {
                let place = place(topic, partition)
                if isWanted(place) { found.append((topic, PartitionID(Int32(partition)), place)) }
            }
        }
        return found
    }
}
