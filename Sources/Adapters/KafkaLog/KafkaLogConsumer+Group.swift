internal import CRdkafka
internal import Clocks
internal import Glibc
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records
internal import Synchronization

/// Reactions of this member to the group's decisions.
extension KafkaLogConsumer {
    func serveEvents(of member: GroupMember) {
        while let event = KafkaEvent(from: member.client.events, of: member.client) {
            switch event.kind {
            case RD_KAFKA_EVENT_REBALANCE: decide(event, member)
            case RD_KAFKA_EVENT_ERROR: hear(event)
            default:
                guard let line = event.logLine else { break }
                // `lose` and `releaseAfterStall` report it.
                if line.facility == "SESSTMOUT" { log.detail(line.text) } else { log.notice(line.text) }
            }
        }
        while let event = KafkaEvent(from: member.patient.events, of: member.patient) {
            if event.kind == RD_KAFKA_EVENT_ERROR { hear(event, aside: true) }
        }
        while let event = KafkaEvent(from: member.commits, of: member.client) {
            commitsUnderWay = max(0, commitsUnderWay - 1)
            noteCommitted(event)
            // Nothing to commit is no failure. Offsets whose commit failed are still stored and go with the next.
            let isDone = event.error.isNone || event.error == RD_KAFKA_RESP_ERR__NO_OFFSET
            if !isDone, case .owning = phase { commitDue = SystemTime.monotonic + Self.sweepInterval }
        }
    }

    /// - Parameter aside: whether the event concerns a broker that the member's own client reports, too.
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
            let partitions = PartitionList.partitions(list, of: log.configuration.name(.fingerprint)).sorted()
            phase = .preparing
            // Partitions added to a topic later belong to nobody until all workers use the new number (`TopicShape`).
            prepare(number, partitions.filter { $0 < log.partitionCount }.map { PartitionID($0) }, member)
        } else {
            member.isListAwaited = false
            revoke(member)
        }
    }

    /// Asks for bounds and committed offsets on a thread of its own. The group waits until they were asked for once,
    /// while polling continues. Partitions whose leaders are away are asked again until the group decides otherwise.
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
            var left = partitions
            let begun = SystemTime.monotonic
            var isReported = false
            var isAnswered = false
            while let consumer = self, consumer.decision.load(ordering: .relaxed) == number {
                let answers = log.questions.partitionBounds(left)
                let known = answers.compactMapValues { try? $0.get() }
                left.removeAll { known[$0] != nil }
                // Until librdkafka gets a reply to this decision of the group, it passes on no other, and all members
                // wait.
                if !known.isEmpty || !isAnswered {
                    let assignment = Assignment(
                        number: number, generation: generation, partitions: partitions, known: known)
                    consumer.hand(.success(assignment))
                    isAnswered = true
                }
                if left.isEmpty { return }
                var reason: LogFailure?
                for partition in left {
                    guard case .failure(let failure) = answers[partition] else { continue }
                    // A denied request will not be allowed a moment later.
                    if case .denied = failure { return consumer.hand(.failure(failure)) }
                    reason = reason ?? failure
                }
                // Leaders of topics that are new, or whose broker went down, are elected within seconds.
                if let reason, !isReported, SystemTime.monotonic - begun >= Self.electionTime {
                    let list = left.sorted().map { "\($0)" }.joined(separator: ", ")
                    log.notice(
                        "Partition\(left.count > 1 ? "s" : "") \(list) wait\(left.count > 1 ? "" : "s") for leaders: \(reason)"
                    )
                    isReported = true
                }
                // Most failures have waited for a response already; some return at once.
                usleep(Self.pause.microseconds)
            }
        }
    }

    nonisolated func hand(_ result: Result<Assignment, LogFailure>) {
        prepared.withLock { $0.append(result) }
        thread.wake()
    }

    private static let pause = Duration.milliseconds(500)
    private static let electionTime = Duration.seconds(5)

    /// Takes partitions up, each once it is known, and adds siblings and folded topics to the group's assignment.
    func adopt(_ assignment: Assignment) {
        guard assignment.number == decision.load(ordering: .relaxed), let member, let listener else { return }
        let held: [PartitionID]
        switch phase {
        case .preparing:
            nextRecommit = SystemTime.monotonic + log.configuration.timing.recommit
            (held, awaited, lateGeneration) = ([], Set(assignment.partitions), nil)
        case .owning(let partitions): (held, lateGeneration) = (partitions, assignment.generation)
        case .idle, .revoking, .committing, .stopping: return
        }
        let starts = begin(assignment, listener)
        do throws(LogFailure) { try assign(starts, beside: held, member) } catch { return listener.failed(error) }
        awaited.subtract(assignment.known.keys)
        let owned = (held + assignment.known.keys).sorted()
        phase = .owning(owned)
        for partition in owned { for topic in Topic.owned { tellReadable(slot(of: KafkaPlace(topic, partition))) } }
    }

    /// Reports the known partitions to the listener. Returns the offset from which each of their topics is read.
    private func begin(_ assignment: Assignment, _ listener: any LogListener) -> [KafkaPlace: Int64] {
        var starts: [KafkaPlace: Int64] = [:]
        for (partition, bounds) in assignment.known.sorted(by: { $0.key < $1.key }) {
            committed.merge(bounds.committed) { $1 }
            let owner = Ownership(partition, epoch: assignment.epoch(of: bounds))
            log.fence.begin(owner)
            let asked = listener.assigned(partition, epoch: owner.epoch, folded: bounds.folded)
            starts.merge(bounds.positions) { $1 }
            let folded = bounds.folded.clamp(asked)
            for topic in Topic.folded { starts[KafkaPlace(topic, partition)] = folded[topic] }
        }
        return starts
    }

    /// Confirms the assignment, and extends it when partitions follow later: owned partitions continue at their
    /// positions. In a group with eager rebalancing, librdkafka 2.0.2 accepts no additions, but a whole list at any
    /// time. It then repeats its prefetches and forgets the offsets that were stored for a commit.
    ///
    /// Unknown partitions are in no list. Reading would begin at an end that librdkafka asks for again and again, and
    /// it would go there once more after a seek.
    private func assign(
        _ starts: [KafkaPlace: Int64], beside held: [PartitionID], _ member: GroupMember
    ) throws(LogFailure) {
        var offsets = starts
        for place in held.flatMap({ partition in Topic.owned.map { KafkaPlace($0, partition) } }) {
            offsets[place] = queue(place)?.next
        }
        for (place, start) in starts {
            let slot = slot(of: place)
            queues[slot] = PartitionQueue(
                member.client(for: place.topic), place, name: log.configuration.name(place.topic), from: start,
                slot: slot + GroupMember.firstSlot, wake: member.wake.writable)
        }
        let list = PartitionList(capacity: offsets.count)
        let others = PartitionList(capacity: offsets.count)
        for (place, offset) in offsets {
            let name = log.configuration.name(place.topic)
            if place.topic.isPatient {
                others.add(name, place.partition.number, offset: offset)
            } else {
                list.add(name, place.partition.number, offset: offset)
            }
        }
        let error = member.assign(list, patiently: others)
        guard error.isNone else { throw LogFailure(error, "taking up partitions") }
        pending.merge(stored) { max($0, $1) }
        stored = [:]
        if !pending.isEmpty { commitSoon() }
    }

    /// Whether the group has removed this member without an event from librdkafka: an assignment discards librdkafka's
    /// note of it.
    private func isOvertaken(_ member: GroupMember) -> Bool {
        guard let generation = lateGeneration else { return false }
        return (try? member.client.generation()) != generation
    }

    private func revoke(_ member: GroupMember) {
        switch phase {
        case .owning(let held):
            if member.isLost || isOvertaken(member) { return lose(held) }
            let now = SystemTime.monotonic
            let deadline = now + log.configuration.timing.revoke
            phase = .revoking(held, waiting: Set(held), deadline: deadline)
            for partition in held { listener?.revoked(partition, deadline: deadline) }
        case .revoking(_, let waiting, _):
            // The partitions that this member was releasing have another owner by now.
            tellLost(waiting)
            releaseAll()
        case .idle, .preparing, .committing: releaseAll()
        case .stopping: member.unassign()
        }
    }

    /// Gives partitions up without commits, because their next owner may be further.
    private func lose(_ partitions: [PartitionID]) {
        log.notice(
            "The group did not hear of this worker for too long: its partitions are given up, and it joins again")
        tellLost(partitions)
        releaseAll()
    }

    /// Reports lost partitions to the listener, after their appends have stopped. First new appends are refused, then
    /// queued ones, so that none slips in between.
    func tellLost(_ partitions: some Collection<PartitionID>) {
        if partitions.isEmpty { return }
        log.fence.end(partitions)
        log.refuseQueued()
        for partition in partitions { listener?.lost(partition) }
    }

    func finishRevocation(of partitions: [PartitionID], at now: Instant) {
        if member.map({ $0.isLost || isOvertaken($0) }) ?? true { return releaseAll() }
        commitLast()
        phase = .committing(deadline: now + .seconds(1))
    }

    /// Confirms to the group that this member owns nothing any more.
    func releaseAll() {
        log.fence.end(log.partitions)
        member?.unassign()
        for slot in queues.indices { queues[slot] = nil }
        awaited = []
        (pending, stored, named, committed) = ([:], [:], [:], [:])
        (commitDue, commitsUnderWay) = (nil, 0)
        phase = .idle
    }

    /// Gives all partitions up after this process or its poll thread was away for so long that they have, or should
    /// have, other owners.
    func releaseAfterStall() {
        guard let member else { return }
        log.notice("This worker was away for too long: its partitions are given up, and it joins the group again")
        switch phase {
        case .owning(let held): tellLost(held)
        case .revoking(_, let waiting, _): tellLost(waiting)
        case .stopping: return
        case .idle, .preparing, .committing: break
        }
        decision.add(1, ordering: .relaxed)
        releaseAll()
        do throws(LogFailure) { try member.rejoin() } catch { listener?.failed(error) }
    }
}
