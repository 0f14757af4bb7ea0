internal import CRdkafka
internal import Glibc
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records
internal import Synchronization

/// What the group decides, and how this member answers.
extension KafkaLogConsumer {
    func serveEvents(of member: GroupMember) {
        while let event = KafkaEvent(from: member.client.events, of: member.client) {
            switch event.kind {
            case RD_KAFKA_EVENT_REBALANCE: decide(event, member)
            case RD_KAFKA_EVENT_ERROR: hear(event)
            default:
                guard let line = event.logLine else { break }
                // `lose` and `giveUpAfterStall` say so.
                if line.facility == "SESSTMOUT" { log.detail(line.text) } else { log.notice(line.text) }
            }
        }
        while let event = KafkaEvent(from: member.patient.events, of: member.patient) {
            if event.kind == RD_KAFKA_EVENT_ERROR { hear(event, aside: true) }
        }
        while let event = KafkaEvent(from: member.commits, of: member.client) {
            commitsUnderWay = max(0, commitsUnderWay - 1)
            noteCommitted(event)
            // Nothing to commit is no failure; what failed is still stored and goes with the next.
            let isDone = event.error.isNone || event.error == RD_KAFKA_RESP_ERR__NO_OFFSET
            if !isDone, case .owning = phase { commitDue = SystemTime.monotonicNanoseconds + Self.sweepNanoseconds }
        }
    }

    /// - Parameter aside: of a broker that the member's own client tells of, too.
    private func hear(_ event: borrowing KafkaEvent, aside: Bool = false) {
        if aside { log.detail(event.text) } else { log.notice(event.text) }
        let failure = LogFailure(event.error, reason: event.text)
        if case .denied = failure {
            listener?.failed(failure)
        } else if event.isFatal {
            listener?.failed(.unavailable(reason: event.text))
        }
    }

    private func decide(_ event: borrowing KafkaEvent, _ member: GroupMember) {
        let number = decision.add(1, ordering: .relaxed).newValue
        if event.error == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS,
            let list = rd_kafka_event_topic_partition_list(event.pointer)
        {
            member.isListAwaited = true
            noteMember(member)
            if case .stopping = phase { return member.unassign() }
            let partitions = PartitionList.partitions(list, of: log.configuration.name(.anchor)).sorted()
            guard partitions.allSatisfy({ $0 < log.partitionCount }) else { return outgrow() }
            phase = .preparing
            prepare(number, partitions.map { PartitionID($0) }, member)
        } else {
            member.isListAwaited = false
            revoke(member)
        }
    }

    /// The number of partitions decides where a source belongs, and was read at the start: with another one, jobs would be
    /// sent to and fro between workers.
    private func outgrow() {
        listener?.failed(
            .topics(
                problems: [
                    "\(log.configuration.name(.anchor)) has more than the \(log.partitionCount) partitions that this worker began with."
                ],
                remedy:
                    "Stop all workers, let mezzotint topics check see that all topics are alike, and start them anew."))
    }

    /// Asks for bounds and committed offsets on a thread of its own; the group waits, polling goes on.
    private func prepare(_ number: Int, _ partitions: [PartitionID], _ member: GroupMember) {
        let generation: Int64
        do throws(LogFailure) {
            generation = try member.client.generation()
        } catch {
            listener?.failed(error)
            return
        }
        let (log, clients) = (log, [member.client, member.patient])
        OwnThread.start("kafka assign") { [weak self] in
            for client in clients { client.learnLeaders(of: Topic.owned) }
            while let consumer = self, consumer.decision.load(ordering: .relaxed) == number {
                do throws(LogFailure) {
                    let assignment = try Assignment(
                        number: number, generation: generation, partitions: partitions, asking: log.questions)
                    consumer.prepared.withLock { $0 = .success(assignment) }
                    return consumer.thread.wake()
                } catch {
                    // Who may not ask will not be allowed to a moment later.
                    if case .denied = error {
                        consumer.prepared.withLock { $0 = .failure(error) }
                        return consumer.thread.wake()
                    }
                    log.notice("Partitions wait for their bounds: \(error)")
                }
                // Most failures waited for an answer already; some are known at once.
                usleep(Self.pauseMicroseconds)
            }
        }
    }

    private static let pauseMicroseconds: UInt32 = 500_000

    /// Takes partitions up: siblings and changelog are added to what the group gave.
    func adopt(_ assignment: Assignment) {
        guard case .preparing = phase, assignment.number == decision.load(ordering: .relaxed), let member, let listener
        else { return }
        committed = assignment.committed
        nextRecommit = SystemTime.monotonicNanoseconds + log.configuration.timing.recommit.nanoseconds
        let capacity = assignment.partitions.count * Topic.owned.count
        let list = PartitionList(capacity: capacity)
        let others = PartitionList(capacity: capacity)
        for (index, partition) in assignment.partitions.enumerated() {
            let changelog = assignment.changelogs[index]
            let owner = Ownership(partition, epoch: assignment.epoch(index))
            log.fence.begin(owner)
            let start = listener.assigned(partition, epoch: owner.epoch, changelog: changelog)
            for topic in Topic.owned {
                let place = KafkaPlace(topic, partition)
                let clamped = min(max(start, changelog.lowerBound), changelog.upperBound)
                let position = topic == .variants ? clamped : assignment.positions[place] ?? 0
                let name = log.configuration.name(topic)
                if topic.isPatient {
                    others.add(name, partition.number, offset: position)
                } else {
                    list.add(name, partition.number, offset: position)
                }
                let slot = slot(of: place)
                queues[slot] = PartitionQueue(
                    member.client(for: topic), place, name: name, from: position, slot: slot + GroupMember.firstSlot,
                    wake: member.wake.writable)
            }
        }
        let error = member.assign(list, patiently: others)
        guard error.isNone else { return listener.failed(LogFailure(error, "taking up partitions")) }
        phase = .owning(assignment.partitions)
        for slot in queues.indices { tellReadable(slot) }
    }

    private func revoke(_ member: GroupMember) {
        switch phase {
        case .owning(let held):
            if member.isLost { return lose(held) }
            let now = SystemTime.monotonicNanoseconds
            let deadline = now + log.configuration.timing.revoke.nanoseconds
            phase = .revoking(held, waiting: Set(held), deadline: deadline)
            for partition in held { listener?.revoked(partition, deadline: deadline) }
        case .revoking(_, let waiting, _):
            // What was being given up in good order is somebody else's by now.
            tellLost(waiting)
            giveUp()
        case .idle, .preparing, .committing: giveUp()
        case .stopping: member.unassign()
        }
    }

    /// No commits: the partitions have another owner, who may be further.
    private func lose(_ partitions: [PartitionID]) {
        log.notice(
            "The group did not hear of this worker for too long: its partitions are given up, and it joins again")
        tellLost(partitions)
        giveUp()
    }

    /// Before the listener hears of it, nothing more is appended for these: first nothing new is taken, then what waits is
    /// refused, so that nothing comes between.
    func tellLost(_ partitions: some Collection<PartitionID>) {
        if partitions.isEmpty { return }
        log.fence.end(partitions)
        log.refuseQueued()
        for partition in partitions { listener?.lost(partition) }
    }

    func finishRevocation(of partitions: [PartitionID], at now: Int64) {
        if member?.isLost ?? true { return giveUp() }
        commitLast()
        phase = .committing(deadline: now + 1_000_000_000)
    }

    /// Answers the group: nothing is ours any more.
    func giveUp() {
        log.fence.end(log.partitions)
        member?.unassign()
        for slot in queues.indices { queues[slot] = nil }
        (pending, named, committed) = ([:], [:], [:])
        (commitDue, commitsUnderWay) = (nil, 0)
        phase = .idle
    }

    /// This process or its poll thread was away for so long that others own its partitions, or should.
    func giveUpAfterStall() {
        guard let member else { return }
        log.notice("This worker was away for too long: its partitions are given up, and it joins the group again")
        switch phase {
        case .owning(let held): tellLost(held)
        case .revoking(_, let waiting, _): tellLost(waiting)
        case .stopping: return
        case .idle, .preparing, .committing: break
        }
        decision.add(1, ordering: .relaxed)
        giveUp()
        do throws(LogFailure) { try member.rejoin() } catch { listener?.failed(error) }
    }
}
