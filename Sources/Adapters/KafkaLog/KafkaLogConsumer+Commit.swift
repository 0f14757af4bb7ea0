internal import CRdkafka
internal import Clocks
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records

/// Committable offsets on their way to the group.
extension KafkaLogConsumer {
    func note(_ committed: Int64, of place: KafkaPlace) {
        guard queue(place) != nil else { return }
        pending[place] = committed
        commitSoon()
    }

    /// Sets the committed offset back. A commit without a list would leave this offset out, because librdkafka takes a
    /// higher one for committed. Later, that commit would send the stored offset of the old log, unless it is replaced
    /// here.
    func noteRestart(at offset: Int64, of place: KafkaPlace) {
        (pending[place], stored[place], committed[place]) = (nil, nil, nil)
        if !place.topic.isPatient { member?.store([place: offset]) }
        named[place] = offset
        commitSoon()
    }

    func commitSoon() {
        guard commitDue == nil else { return }
        commitDue = SystemTime.monotonic + log.configuration.timing.commit
        thread.wake()
    }

    /// Runs one commit at a time; offsets that arrive meanwhile go with the next.
    func commitPending(at now: Instant) {
        guard commitsUnderWay == 0 else {
            commitDue = now + log.configuration.timing.commit
            return
        }
        storePending()
        guard let member, case .owning = phase else { return }
        if !named.isEmpty {
            // Until the result arrives, stored offsets of these topic-partitions go with no commit.
            commit(named, by: member)
            commitDue = now + log.configuration.timing.commit
        }
        if member.commitStored() { commitsUnderWay += 1 }
    }

    /// Commits all offsets handed in so far before partitions are released, behind a commit that may be in progress.
    func commitLast() {
        storePending()
        guard let member else { return }
        commit(named, by: member)
        if member.commitStored() { commitsUnderWay += 1 }
    }

    /// Commits the offsets of idle topics again, or brokers would drop them while the group is healthy. It names the
    /// offsets, because a commit without a list skips offsets that were stored before. It runs only while the
    /// partitions are owned, and repeats the committed offsets unchanged.
    func recommit(at now: Instant) {
        nextRecommit = now + log.configuration.timing.recommit
        guard let member, case .owning = phase, commitsUnderWay == 0 else {
            nextRecommit = min(nextRecommit, now + Self.sweepInterval)
            return
        }
        let still = committed.filter { pending[$0.key] == nil && named[$0.key] == nil }
        commit(still, by: member)
    }

    /// Commits named offsets. librdkafka refuses a commit without a list once the partitions have another owner; it
    /// does not check this one.
    private func commit(_ offsets: [KafkaPlace: Int64], by member: GroupMember) {
        if !offsets.isEmpty, !member.isLost, member.commit(offsets) { commitsUnderWay += 1 }
    }

    /// Notes the offsets that a commit's result confirms as durable.
    func noteCommitted(_ event: borrowing KafkaEvent) {
        guard event.error.isNone, let list = rd_kafka_event_topic_partition_list(event.pointer) else { return }
        for index in 0..<Int(list.pointee.cnt) {
            let entry = list.pointee.elems[index]
            guard entry.err.isNone, entry.offset >= 0, let place = log.configuration.place(entry), queue(place) != nil
            else { continue }
            // The result of an older commit does not apply to a log that was replaced since.
            if let offset = named[place] {
                guard offset == entry.offset else { continue }
                named[place] = nil
            }
            committed[place] = entry.offset
            if stored[place] ?? .max <= entry.offset { stored[place] = nil }
        }
    }

    private func storePending() {
        commitDue = nil
        if pending.isEmpty { return }
        let soon = pending.filter { !$0.key.topic.isPatient }
        member?.store(soon)
        stored.merge(soon) { $1 }
        named.merge(pending.filter(\.key.topic.isPatient)) { $1 }
        pending.removeAll(keepingCapacity: true)
    }
}

extension KafkaConfiguration {
    fileprivate func place(_ entry: rd_kafka_topic_partition_t) -> KafkaPlace? {
        let text = String(cString: entry.topic)
        return Topic.owned.first { name($0) == text }.map { KafkaPlace($0, PartitionID(entry.partition)) }
    }
}
