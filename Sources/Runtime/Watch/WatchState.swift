package import Clocks
internal import Failures
package import ImageModel
internal import Ports
internal import Records

/// State of a log, its group and its workers from outside, built from the replies to requests.
///
/// Its size is limited by the number of partitions: samples, failures, dead letters and workers have their own limits.
/// Unknown values are nil.
package struct WatchState: Sendable {
    package let partitionCount: Int
    package let targets: ByLane<Duration>
    /// Whether several workers can own partitions at once.
    package let isShared: Bool
    /// nil: the log is embedded.
    let cluster: ClusterName?
    var members: [MemberWatch] = []
    var grown: [GrownTopic] = []
    var unusableTopics: (since: WallTime, reason: String)?
    /// Maximum number of records that an owner restores.
    var changelogLengths: [PartitionID: Int64] = [:]
    var places: [PlaceWatch]
    var partitions: [PartitionWatch]
    var lanes: [LaneHistory]
    /// History of all waiting jobs together: parked ones, and those in retry topics.
    var retries = LaneHistory()
    var failures = FailureTable()
    var ends = RecentEnds()
    var losses = LostRecords()
    var deadLetters: DeadLetterTable
    var workers: [String: WorkerWatch] = [:]
    var marks: [Mark] = []
    /// Time since which owners are known; nil: they are not.
    var ownersKnownSince: WallTime?
    var areOwnersKnown: Bool { ownersKnownSince != nil }
    /// Time since which a partition has had an owner; nil while none has. A worker that serves no metrics before that
    /// is starting.
    var ownedSince: WallTime?
    /// Retention time of topics, without topics that keep records until they are finished.
    var retention: [Topic: Duration] = [:]
    /// nil until the topic was read.
    var hosts: HostTable?
    /// Time of the log's last reply.
    package private(set) var respondedAt: WallTime?
    /// Time of the log's first reply.
    package private(set) var firstRespondedAt: WallTime?
    /// Start of the log's silence, with the reason.
    var silence: (since: WallTime, reason: String, code: String?)?
    /// Time since which no log exists, because nothing was published yet, with its path.
    var unpublished: (since: WallTime, place: String)?
    package var isSilent: Bool { silence != nil }

    /// Event that is marked in the charts of the last hour.
    struct Mark: Sendable, Hashable {
        let at: WallTime
        let text: String
    }

    /// Topic-partitions that have a sample, in the order of their samples.
    private var sampled: [Int] = []

    private static let markLimit = 20
    private static let sampleLimit = 100
    static let workerLimit = 1_000

    package init(partitions count: Int, targets: ByLane<Duration>, isShared: Bool, cluster: ClusterName? = nil) {
        (partitionCount, self.targets, self.isShared, self.cluster) = (count, targets, isShared, cluster)
        places = Array(repeating: PlaceWatch(), count: Topic.consumed.count * count)
        partitions = Array(repeating: PartitionWatch(), count: count)
        lanes = Lane.allCases.map { _ in LaneHistory() }
        deadLetters = DeadLetterTable(partitions: count)
    }

    package mutating func apply(_ event: WatchEvent, at now: WallTime) {
        switch event {
        case .offsets(let results, let points): take(results, of: points, at: now)
        case .silence(let reason, let code):
            silence = (silence?.since ?? now, reason, code)
            unpublished = nil
        case .unpublished(let place): (silence, unpublished) = (nil, (unpublished?.since ?? now, place))
        case .owners(let owners): take(owners, at: now)
        case .members(let members): take(members, at: now)
        case .searched(let partition): noteSearch(of: partition)
        case .grown(let topics): grown = topics
        case .unusableTopics(let reason): unusableTopics = reason.map { (unusableTopics?.since ?? now, $0) }
        case .hidden(let point, let appended): take(hidden: point, appended)
        case .head(let point, let appended): take(head: point, appended, at: now)
        case .sample(let sample):
            take(sample, at: now)
        case .ended(let ends):
            for end in ends {
                self.ends.count(end, at: now)
                if !end.kind.isSuccess { failures.count(end) }
            }
        case .deadLetters(let change): deadLetters.take(change)
        case .epoch(let row):
            guard isHere(row.partition) else { return }
            let known = partitions[Int(row.partition.number)].epoch
            // Epochs begin again in a recreated changelog.
            if known.map({ $0.epoch <= row.epoch || $0.at < row.at }) ?? true { partitions[Int(row.partition.number)].epoch = row }
        case .progress(let row):
            guard isHere(row.partition) else { return }
            noteParked(row)
            partitions[Int(row.partition.number)].progress = row
            losses.take(row.lost, of: row.partition)
            for topic in Topic.consumed { takeProgress(topic, row.partition) }
        case .changelog(let partition, let readAt):
            if isHere(partition) { partitions[Int(partition.number)].changelogAt = readAt }
        case .workers(let sights): take(sights, at: now)
        case .asked(let addresses):
            let old = workers
            workers = [:]
            for address in addresses.prefix(Self.workerLimit) { workers[address] = old[address] ?? WorkerWatch() }
        case .retention(let kept): retention = kept
        case .hosts(let rows):
            if hosts == nil { hosts = HostTable() }
            hosts?.take(rows)
        }
    }

    /// Applies offsets. If every request failed, the last known values stay, with their age.
    private mutating func take(
        _ results: [Result<PartitionOffsets, LogFailure>], of points: [LogPoint], at now: WallTime
    ) {
        let failures = results.lazy.compactMap { if case .failure(let failure) = $0 { failure } else { nil } }
        if let first = failures.first, failures.count == results.count {
            silence = (silence?.since ?? now, first.description, first.code)
            return
        }
        (silence, unpublished, respondedAt) = (nil, nil, now)
        firstRespondedAt = firstRespondedAt ?? now
        for (result, point) in zip(results, points) {
            if point.topic == .variants, case .success(let offsets) = result {
                changelogLengths[point.partition] = Int64(offsets.bounds.count)
            }
            if point.topic == .dead, case .success(let offsets) = result {
                deadLetters.keep(offsets.bounds, of: point.partition)
            }
            if point.topic == .parked, isHere(point.partition), case .success(let offsets) = result {
                partitions[Int(point.partition.number)].parkedBounds = offsets.bounds
            }
            guard let place = index(point.topic, point.partition) else { continue }
            switch result {
            case .failure(let failure):
                places[place].failure = (places[place].failure?.since ?? now, failure.description)
            case .success(let offsets):
                let moved = places[place].take(offsets, at: now)
                losses.count(moved.lost, of: point.topic, at: now)
                takeProgress(point.topic, point.partition)
                if let lane = point.topic.lane {
                    lanes[lane.ordinal].count(published: moved.in, finished: moved.out)
                } else {
                    retries.count(published: moved.in, finished: moved.out)
                }
            }
        }
        retries.look(at: now, oldest: nil, waiting: nil)
        for lane in Lane.allCases {
            let sum = lag(of: lane, at: now)
            lanes[lane.ordinal].look(at: now, oldest: sum.oldest, waiting: sum.records)
        }
    }

    /// Stores a sample. Only the newest samples are kept, because each may name five hundred hosts.
    private mutating func take(_ sample: PlaceSample, at now: WallTime) {
        let number = Int(sample.partition.number)
        let place: Int
        if sample.topic == .parked, isHere(sample.partition) {
            (partitions[number].parkedSample, partitions[number].parkedSampledAt) = (sample, now)
            place = places.count + number
        } else if let known = index(sample.topic, sample.partition) {
            (places[known].sample, places[known].sampledAt) = (sample, now)
            place = known
        } else {
            return
        }
        sampled.removeAll { $0 == place }
        sampled.append(place)
        guard sampled.count > Self.sampleLimit else { return }
        let first = sampled.removeFirst()
        if first < places.count { places[first].sample = nil } else { partitions[first - places.count].parkedSample = nil }
    }

    /// Counts the parked jobs that came or ended since the owner's last row.
    private mutating func noteParked(_ row: ProgressRow) {
        guard let before = partitions[Int(row.partition.number)].progress?.parked, let now = row.parked else { return }
        retries.count(published: max(0, now.jobs - before.jobs), finished: max(0, before.jobs - now.jobs))
    }

    private mutating func take(_ owners: [PartitionID: String], at now: WallTime) {
        var (came, went) = (0, 0)
        for number in partitions.indices {
            let owner = owners[PartitionID(Int32(number))].map { Words.cut($0) }
            guard !areOwnersKnown || partitions[number].owner != owner else { continue }
            if areOwnersKnown { if owner == nil { went += 1 } else { came += 1 } }
            partitions[number].owner = owner
            partitions[number].unownedSince = owner == nil ? now : nil
            partitions[number].ownerSince = areOwnersKnown ? now : nil
        }
        ownersKnownSince = ownersKnownSince ?? now
        ownedSince = partitions.contains { $0.owner != nil } ? ownedSince ?? now : nil
        if came > 0 { mark("\(came) partitions got an owner", at: now) }
        if went > 0 { mark("\(went) partitions lost their owner", at: now) }
    }

    private mutating func take(head point: LogPoint, _ appended: WallTime?, at now: WallTime) {
        guard let place = index(point.topic, point.partition), let offset = point.offset else { return }
        places[place].head = (offset, appended, places[place].end)
        places[place].headAt = now
    }

    private mutating func take(_ sights: [WorkerSight], at now: WallTime) {
        for sight in sights {
            guard let before = workers[sight.address] else { continue }
            var worker = before
            worker.take(sight.answer, at: now)
            workers[sight.address] = worker
            losses.count(worker.lost, by: sight.address, at: now)
            if let started = worker.figures?.started, let last = before.figures?.started, started > last {
                mark("\(sight.address) was started", at: now)
            }
        }
    }

    /// Workers that do not respond, or all others.
    package func workers(silent: Bool) -> [String] {
        workers.filter { ($0.value.silence != nil) == silent }.map(\.key).sorted()
    }

    private mutating func mark(_ text: String, at now: WallTime) {
        marks.append(Mark(at: now, text: text))
        marks.removeAll { $0.at < now - LaneHistory.span }
        if marks.count > Self.markLimit { marks.removeFirst(marks.count - Self.markLimit) }
    }

    /// Whether dead letters were dropped, so that all of them must be read again.
    package mutating func forgotDeadLetters() -> Bool { deadLetters.forgot() }

    func isHere(_ partition: PartitionID) -> Bool { partitions.indices.contains(Int(partition.number)) }

    private mutating func takeProgress(_ topic: Topic, _ partition: PartitionID) {
        guard let place = index(topic, partition) else { return }
        places[place].take(partitions[Int(partition.number)].progress?.topics[topic])
    }

    /// Index of the topic-partition; nil if its records are not finished by workers.
    func index(_ topic: Topic, _ partition: PartitionID) -> Int? {
        guard isHere(partition), let row = Self.rows[topic] else { return nil }
        return row * partitionCount + Int(partition.number)
    }

    private static let rows = Dictionary(uniqueKeysWithValues: Topic.consumed.enumerated().map { ($1, $0) })
}
