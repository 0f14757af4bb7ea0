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

    /// Lag of a partition's retry topics. A retry is appended again for each attempt, so its age comes from the time
    /// when its job was first seen, from samples. It is unknown until each topic with records was sampled.
    func retryLag(in partition: Int) -> Lag {
        let all = lag(of: Topic.retries, in: partition)
        let isSampled = retryPlaces(partition).allSatisfy { $0.sample?.seen ?? 0 > 0 }
        let oldest = isSampled ? retriedSince(in: partition).values.min() : nil
        return Lag(records: all.records, oldest: oldest, unknown: all.unknown)
    }

    /// Time when the first retried job of each lane was first seen, from samples. A record that is no job belongs to
    /// the lane `unknown`.
    func retriedSince(in partition: Int) -> [String: WallTime] {
        var since: [String: WallTime] = [:]
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
    package func placesToSample(_ limit: Int) -> [LogPoint] {
        let places = worked { $0.unfinished ?? 0 > 0 && $0.failure == nil }
        return places.sorted { ($0.place.sampledAt ?? .distantPast) < ($1.place.sampledAt ?? .distantPast) }
            .prefix(limit).map { LogPoint($0.topic, $0.partition, $0.place.start) }
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
