internal import Clocks
internal import Ports
internal import Records

/// The log port of one process.
final class SimulatedLog: Log, @unchecked Sendable {
    private unowned(unsafe) let process: SimulatedProcess
    private var cluster: Cluster { process.world.cluster }

    init(_ process: SimulatedProcess) { self.process = process }

    var partitionCount: Int { Cluster.partitionCount }
    var tombstonesKept: Duration? { World.tombstonesKept - .seconds(20) }

    func append(_ records: [NewRecord]) async -> [AppendResult] { await append(records, nil) }
    func append(_ records: [NewRecord], as owner: Ownership) async -> [AppendResult] { await append(records, owner) }

    private func append(_ records: [NewRecord], _ owner: Ownership?) async -> [AppendResult] {
        let closed = records.map { _ in AppendResult.refused(.closed) }
        if let owner { process.world.backlog.look(at: records, by: process, as: owner) }
        return await process.ask(or: closed) { answer in
            let (process, cluster) = (process, cluster)
            // Those of one place go together; the call ends with the last of them.
            var places: [(log: TopicLog, indices: [Int])] = []
            for (index, record) in records.enumerated() {
                let log = cluster.log(record.topic, record.partition)
                if let known = places.firstIndex(where: { $0.log === log }) {
                    places[known].indices.append(index)
                } else {
                    places.append((log, [index]))
                }
            }
            var (results, left) = (closed, places.count)
            for (log, indices) in places {
                let part =
                    process.world.plants(.forgetEpoch) && log.topic == .variants
                    ? indices.map { records[$0].without(EventHeader.epoch) } : indices.map { records[$0] }
                cluster.append(
                    part, to: log, by: process, as: owner,
                    isHeld: { owner.map { process.consumer.holds($0) } ?? true }
                ) { answers in
                    for (index, result) in zip(indices, answers) { results[index] = result }
                    left -= 1
                    if left == 0 { answer(results) }
                }
            }
        }
    }

    /// A question to the brokers about some places.
    private func question<Answer: Sendable>(
        _ places: [TopicLog], _ answer: @escaping () -> Answer
    ) async throws(LogFailure) -> Answer {
        let result: Result<Answer, LogFailure> = await process.ask(or: .failure(.closed)) { done in
            let (world, cluster) = (process.world, cluster)
            world.after(cluster.latency) {
                if places.contains(where: { cluster.isAway($0) }) {
                    world.count(.questionFailed)
                    done(.failure(.unavailable(reason: "a topic has no leader")))
                } else {
                    done(.success(answer()))
                }
            }
        }
        return try result.get()
    }

    func bounds(_ topic: Topic, _ partition: PartitionID) async throws(LogFailure) -> Range<Int64> {
        let log = cluster.log(topic, partition)
        if topic.lane != nil, process.world.plants(.endControl) { return log.start..<log.start }
        return try await question([log]) { log.start..<log.end }
    }

    func committed(_ topic: Topic, _ partition: PartitionID) async throws(LogFailure) -> Int64? {
        let log = cluster.log(topic, partition)
        return try await question([log]) { [group = process.world.group] in group.committed[log.place] }
    }

    func read(
        _ topic: Topic, _ partition: PartitionID, from offset: Int64, limit: Int
    ) async throws(LogFailure) -> [Record] {
        let log = cluster.log(topic, partition)
        let records = try await question([log]) { log.records(from: offset, below: .max, limit: limit) }
        if topic == .outcomes, process.world.plants(.hideOutcomes) { return [] }
        guard topic == .origins, process.world.plants(.claimSlots), let own = process.consumer.owned.min() else {
            return records
        }
        return records.map { record in
            guard let row = OriginRow(record), let slot = row.slot else { return record }
            var record = record
            record.value = OriginRow(host: row.host, slot: slot, at: own, at: row.at).newRecord().value
            return record
        }
    }

    func latest(
        _ topic: Topic, _ partition: PartitionID, keyPrefix prefix: [UInt8]
    ) async throws(LogFailure) -> [Record] {
        throw .closed
    }

    func sights(at places: [LogPoint]) async -> [Result<LogSight, LogFailure>] {
        let closed = places.map { _ in Result<LogSight, LogFailure>.failure(.closed) }
        return await process.ask(or: closed) { done in
            let (world, cluster, process) = (process.world, cluster, process)
            world.after(cluster.latency) {
                done(
                    places.map { point in
                        let log = cluster.log(point.topic, point.partition)
                        if cluster.isAway(log) {
                            world.count(.questionFailed)
                            process.consumer.hinder()
                            return .failure(.unavailable(reason: "\(point.topic.rawValue) has no leader"))
                        }
                        let record = point.offset.flatMap { log.entry(at: $0)?.record }
                        world.note(
                            "looked", Int64(process.number), Int64(log.place), point.offset ?? -1,
                            record?.timestamp.milliseconds ?? -1)
                        var bounds = log.start..<log.end
                        if point.topic == .control, world.plants(.jobsFirst) {
                            bounds = log.start..<max(log.start, world.group.committed[log.place] ?? 0)
                        }
                        return .success(LogSight(bounds: bounds, timestamp: record?.timestamp))
                    })
            }
        }
    }

    func owner(of partition: PartitionID) async throws(LogFailure) -> String? { nil }
    func close() async {}
}

extension NewRecord {
    fileprivate func without(_ header: String) -> NewRecord {
        var record = self
        record.headers = RecordHeaders(headers.filter { $0.name != header })
        return record
    }
}

extension TopicLog {
    /// Dense, for offsets by place.
    var place: Int { topic.ordinal * Cluster.partitionCount + Int(partition.number) }
}
