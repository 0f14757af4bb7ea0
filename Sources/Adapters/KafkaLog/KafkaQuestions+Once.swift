internal import CRdkafka
internal import KafkaSetup
internal import Ports
internal import Records

extension KafkaQuestions {
    /// Bounds and committed offsets of many topic-partitions, each with its own result: four questions to each broker,
    /// none of them retried.
    ///
    /// - Parameters:
    ///   - leaders: the leader of each topic-partition. librdkafka 2.0.2 returns a whole list or nothing, so each
    ///     leader is asked by itself: an absent leader fails only its own topic-partitions.
    ///   - isReading: set by an owner that takes up partitions. It reads up to the last stable offset, and needs no
    ///     count of hidden records.
    func offsetsOnce(
        _ places: [KafkaPlace], leaders: [KafkaPlace: Int32], within limit: Duration, isReading: Bool = false
    ) -> [Result<PartitionOffsets, LogFailure>] {
        // Committed offsets come first, as in `Outside.partitionOffsets`.
        let finished = places.filter { Topic.consumed.contains($0.topic) }
        let committed = ask(finished, "committed offset") { rd_kafka_committed(client.handle, $0, limit.kafka) }
        var bounds: [KafkaPlace: Result<Bounds, LogFailure>] = [:]
        for (leader, led) in Dictionary(grouping: places, by: { leaders[$0] ?? Self.nobody }) {
            guard leader >= 0 else {
                for place in led { bounds[place] = .failure(absence(of: leader, place)) }
                continue
            }
            bounds.merge(self.bounds(led, leader, within: limit, isReading: isReading)) { $1 }
        }
        return places.map { place in
            let unsaid = LogFailure.unavailable(reason: "the cluster says nothing of it")
            let bounds = bounds[place] ?? .failure(unsaid)
            let done: Result<Int64?, LogFailure> =
                Topic.consumed.contains(place.topic) ? committed[place] ?? .failure(unsaid) : .success(nil)
            return LogFailure.both(bounds, done).map {
                PartitionOffsets(
                    topic: place.topic, partition: place.partition, bounds: $0.readable, committed: $1,
                    hidden: $0.hidden)
            }
        }
    }

    private static let nobody: Int32 = -1

    /// The reason why the topic-partition cannot be read. Until a dead broker's session has ended (9 s by default), the
    /// cluster still names it as the leader.
    func absence(of leader: Int32, _ place: KafkaPlace) -> LogFailure {
        let name = "\(configuration.name(place.topic)), partition \(place.partition)"
        return .unavailable(
            reason: leader < 0 ? "no broker leads \(name)" : "broker \(leader), which leads \(name), does not respond")
    }

    /// Bounds of topic-partitions that one broker leads. High watermarks come first, so that records appended between
    /// the two questions do not count as hidden.
    private func bounds(
        _ places: [KafkaPlace], _ leader: Int32, within limit: Duration, isReading: Bool
    ) -> [KafkaPlace: Result<Bounds, LogFailure>] {
        func offsets(_ which: Int32, by client: KafkaClient) -> [KafkaPlace: Result<Int64?, LogFailure>] {
            ask(places, "bounds", Int64(which), leader) {
                rd_kafka_offsets_for_times(client.handle, $0, limit.kafka)
            }
        }
        let high: [KafkaPlace: Result<Int64?, LogFailure>]
        if isReading {
            high = [:]
        } else {
            do throws(LogFailure) { high = offsets(RD_KAFKA_OFFSET_END, by: try highClient()) } catch {
                return places.reduce(into: [:]) { $0[$1] = .failure(error) }
            }
        }
        // A leader that did not respond is not asked again.
        func isAway(_ answers: [KafkaPlace: Result<Int64?, LogFailure>]) -> Bool {
            !answers.isEmpty && answers.values.allSatisfy { if case .failure = $0 { true } else { false } }
        }
        let next = isAway(high) ? high : offsets(RD_KAFKA_OFFSET_END, by: client)
        let first = isAway(next) ? next : offsets(RD_KAFKA_OFFSET_BEGINNING, by: client)
        var bounds: [KafkaPlace: Result<Bounds, LogFailure>] = [:]
        for (place, answer) in next {
            bounds[place] = LogFailure.both(answer, LogFailure.both(first[place] ?? answer, high[place] ?? answer)).map
            {
                end, others in
                let (first, end, high) = (others.0 ?? 0, end ?? 0, others.1 ?? 0)
                return Bounds(readable: first..<max(first, end), hidden: max(0, high - end))
            }
        }
        return bounds
    }

    private struct Bounds {
        let readable: Range<Int64>
        let hidden: Int64
    }

    /// Asks one leader for one offset of each topic-partition; nil for an offset that does not exist.
    ///
    /// - Parameter leader: the leader of the topic-partitions; nil: the group's coordinator is asked.
    private func ask(
        _ places: [KafkaPlace], _ what: String, _ which: Int64 = Int64(RD_KAFKA_OFFSET_INVALID), _ leader: Int32? = nil,
        _ question: (UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) -> rd_kafka_resp_err_t
    ) -> [KafkaPlace: Result<Int64?, LogFailure>] {
        if places.isEmpty { return [:] }
        let list = PartitionList(capacity: places.count)
        for place in places { list.add(configuration.name(place.topic), place.partition.number, offset: which) }
        let error = question(list.pointer)
        var answers: [KafkaPlace: Result<Int64?, LogFailure>] = [:]
        for (index, place) in places.enumerated() {
            do throws(LogFailure) {
                let code = error.isNone ? list.error(index) : error
                if let leader, code.isSilence { throw absence(of: leader, place) }
                try code.check(
                    "the \(what) of \(configuration.name(place.topic)), partition \(place.partition)")
                answers[place] = .success(
                    list.offset(index) >= 0 ? try Self.checked(list.offset(index), place) : nil)
            } catch { answers[place] = .failure(error) }
        }
        return answers
    }

    /// Leader of each partition of our topics, by one request; nil if no broker responds.
    func leaders(within limit: Duration) -> [KafkaPlace: Int32]? {
        var found: UnsafePointer<rd_kafka_metadata>?
        guard rd_kafka_metadata(client.handle, 1, nil, &found, limit.kafka).isNone, let metadata = found else {
            return nil
        }
        defer { rd_kafka_metadata_destroy(metadata) }
        // The client for high watermarks keeps the old leaders, too, unless it is asked.
        learnHighLeaders(within: limit)
        let names = Dictionary(uniqueKeysWithValues: Topic.allCases.map { (configuration.name($0), $0) })
        var leaders: [KafkaPlace: Int32] = [:]
        for index in 0..<Int(metadata.pointee.topic_cnt) {
            let topic = metadata.pointee.topics[index]
            guard let ours = names[String(cString: topic.topic)] else { continue }
            for index in 0..<Int(topic.partition_cnt) {
                let partition = topic.partitions[index]
                leaders[KafkaPlace(ours, PartitionID(partition.id))] = partition.leader
            }
        }
        return leaders
    }
}
