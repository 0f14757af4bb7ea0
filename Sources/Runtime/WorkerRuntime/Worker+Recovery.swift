internal import Failures
internal import Partition
internal import Ports
internal import Positions
internal import Records
internal import Telemetry

/// What an owner that was killed had answered already is in the log, and is not done again.
extension Worker {
    /// Reads the answers that no progress row tells of; the partition's topics are begun after that.
    func recoverAnswers(_ owner: Ownership) async {
        while let owned = recovering(owner) {
            do throws(LogFailure) {
                var committed: [Topic: Int64] = [:]
                for topic in Topic.worked { committed[topic] = ports.consumer.committed(topic, owner.partition) }
                // The topics begin by what was left, and so must the answers. This owner's own row may tell of later ones: a
                // zombie's row came between two tries to append it.
                let row = owned.left?.answers == nil ? owned.index.progress : owned.left
                let tail = try await answers(of: owner.partition, into: AnswerTail(after: row, committed: committed))
                guard let owned = recovering(owner) else { return }
                owned.answers = tail
                if tail.count > 0 {
                    logger.info(
                        "Jobs that an earlier owner had answered when it ended are not done again.",
                        ["partition": .string("\(owner.partition)"), "jobs": .int(Int64(tail.count))])
                }
                look(at: owned)
            } catch {
                note(error, ["code": .string(error.code), "partition": .string("\(owner.partition)")])
                await pauseAfterRefusal()
            }
        }
    }

    /// An index that is made anew meanwhile tells nothing: once it is restored, it begins again.
    private func recovering(_ owner: Ownership) -> OwnedPartition? {
        guard let owned = owned(by: owner), owned.answers == nil,
            owned.isRestored, !phase.isEnded
        else { return nil }
        return owned
    }

    /// One question for the ends; topics that have nothing new are not read.
    ///
    /// A dead letter's or a tier's partition that cannot be asked is left out: what it answers may be done again. Without
    /// its outcomes nothing of a partition can be answered, so those are waited for.
    nonisolated func answers(
        of partition: PartitionID, into tail: AnswerTail
    ) async throws(LogFailure) -> AnswerTail {
        var tail = tail
        let sights = await ports.log.sights(at: AnswerTail.topics.map { LogPoint($0, partition, nil) })
        for (topic, sight) in zip(AnswerTail.topics, sights) {
            let bounds: Range<Int64>
            switch sight {
            case .success(let sight): bounds = sight.bounds
            case .failure(let failure) where topic == .outcomes: throw failure
            case .failure(let failure):
                await note(failure, ["code": .string(failure.code), "partition": .string("\(partition)")])
                continue
            }
            let unread = tail.unread(topic, in: bounds)
            var next = unread.lowerBound
            while next < unread.upperBound {
                let records = try await ports.log.read(topic, partition, from: next, limit: 4_096)
                // Offsets have gaps, at the end too.
                guard let last = records.last else { break }
                for record in records { tail.read(record) }
                next = last.offset + 1
            }
            tail.finish(topic, at: max(next, unread.upperBound))
        }
        return tail
    }
}
