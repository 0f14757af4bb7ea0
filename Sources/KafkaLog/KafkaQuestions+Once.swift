internal import CRdkafka
internal import KafkaSetup
internal import Ports
internal import Records

extension KafkaQuestions {
    /// Bounds and committed offsets of many places, each with its own result: three questions to each broker, and none is
    /// asked again.
    ///
    /// - Parameter leaders: who leads each place. librdkafka 2.0.2 answers a list as a whole or not at all, so each leader is
    ///   asked by itself: one that is away takes only its own places along.
    func offsetsOnce(
        _ places: [KafkaPlace], leaders: [KafkaPlace: Int32], within milliseconds: Int32
    ) -> [Result<PartitionOffsets, LogFailure>] {
        // Committed offsets first, as in `Outside.partitionOffsets`.
        let finished = places.filter { Topic.consumed.contains($0.topic) }
        let committed = ask(finished, "committed offset") { rd_kafka_committed(client.handle, $0, milliseconds) }
        var bounds: [KafkaPlace: Result<Range<Int64>, LogFailure>] = [:]
        for (leader, led) in Dictionary(grouping: places, by: { leaders[$0] ?? Self.nobody }) {
            guard leader >= 0 else {
                for place in led {
                    let name = "\(configuration.name(place.topic)), partition \(place.partition)"
                    bounds[place] = .failure(.unavailable(reason: "no broker leads \(name)"))
                }
                continue
            }
            bounds.merge(self.bounds(led, within: milliseconds)) { $1 }
        }
        return places.map { place in
            let unsaid = LogFailure.unavailable(reason: "the cluster says nothing of it")
            let bounds = bounds[place] ?? .failure(unsaid)
            let done: Result<Int64?, LogFailure> =
                Topic.consumed.contains(place.topic) ? committed[place] ?? .failure(unsaid) : .success(nil)
            return LogFailure.both(bounds, done).map {
                PartitionOffsets(topic: place.topic, partition: place.partition, bounds: $0, committed: $1)
            }
        }
    }

    private static let nobody: Int32 = -1

    /// Of places that one broker leads.
    private func bounds(
        _ places: [KafkaPlace], within milliseconds: Int32
    ) -> [KafkaPlace: Result<Range<Int64>, LogFailure>] {
        func offsets(_ which: Int32) -> [KafkaPlace: Result<Int64?, LogFailure>] {
            ask(places, "bounds", Int64(which)) { rd_kafka_offsets_for_times(client.handle, $0, milliseconds) }
        }
        let next = offsets(RD_KAFKA_OFFSET_END)
        // One that does not answer is not waited for twice.
        let isAway = next.values.allSatisfy { if case .failure = $0 { true } else { false } }
        let first = isAway ? next : offsets(RD_KAFKA_OFFSET_BEGINNING)
        var bounds: [KafkaPlace: Result<Range<Int64>, LogFailure>] = [:]
        for (place, answer) in next {
            bounds[place] = answer.flatMap { end in
                (first[place] ?? answer).map { ($0 ?? 0)..<max($0 ?? 0, end ?? 0) }
            }
        }
        return bounds
    }

    /// nil in place of an offset that there is not.
    private func ask(
        _ places: [KafkaPlace], _ what: String, _ which: Int64 = Int64(RD_KAFKA_OFFSET_INVALID),
        _ question: (UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) -> rd_kafka_resp_err_t
    ) -> [KafkaPlace: Result<Int64?, LogFailure>] {
        if places.isEmpty { return [:] }
        let list = PartitionList(capacity: places.count)
        for place in places { list.add(configuration.name(place.topic), place.partition.number, offset: which) }
        let error = question(list.pointer)
        var answers: [KafkaPlace: Result<Int64?, LogFailure>] = [:]
        for (index, place) in places.enumerated() {
            do throws(LogFailure) {
                try (error.isNone ? list.error(index) : error).check(
                    "the \(what) of \(configuration.name(place.topic)), partition \(place.partition)")
                answers[place] = .success(
                    list.offset(index) >= 0 ? try Self.checked(list.offset(index), place) : nil)
            } catch { answers[place] = .failure(error) }
        }
        return answers
    }

    /// Who leads each partition of our topics, by one question; nil if no broker answers it.
    func leaders(within milliseconds: Int32) -> [KafkaPlace: Int32]? {
        var found: UnsafePointer<rd_kafka_metadata>?
        guard rd_kafka_metadata(client.handle, 1, nil, &found, milliseconds).isNone, let metadata = found else {
            return nil
        }
        defer { rd_kafka_metadata_destroy(metadata) }
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
