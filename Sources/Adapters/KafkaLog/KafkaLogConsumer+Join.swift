internal import Clocks
internal import Glibc
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Synchronization

/// How this member comes to the group, and how its successor will know of it.
///
/// A member that was killed stays one until its session ends. Whoever joins meanwhile makes all others give up their
/// partitions, and the coordinator keeps them waiting for the dead one's answer: nobody works for almost a session. So who
/// takes a dead member's place joins when that is gone. Until then the others go on, and only its own partitions wait.
extension KafkaLogConsumer {
    func join(_ member: GroupMember) throws(LogFailure) {
        guard let place else { return try member.subscribe() }
        let former = FormerMember(id: place.note)
        // By then the coordinator has missed whoever was killed before this process began.
        let limit = SystemTime.monotonic + log.configuration.timing.session + Self.sweepInterval
        OwnThread.start("kafka join") { [weak self, log] in
            var isTold = false
            while let consumer = self, consumer.decision.load(ordering: .relaxed) == 0,
                SystemTime.monotonic < limit,
                // Where it cannot be asked, it is as it was when it last answered.
                (try? log.questions.members()).map({ former.holdsUp($0.map(\.id)) }) ?? isTold
            {
                if !isTold {
                    log.notice(
                        "The group still counts on the worker that ran here before: this one joins when its session is over, so that the others work on"
                    )
                }
                isTold = true
                usleep(Self.lookInterval.microseconds)
            }
            // It may have joined meanwhile, as after a stall.
            guard let consumer = self, consumer.decision.load(ordering: .relaxed) == 0 else { return }
            consumer.mayJoin.store(true, ordering: .releasing)
            consumer.thread.wake()
        }
    }

    /// At the turn after.
    func joinIfDue(_ member: GroupMember) {
        guard mayJoin.exchange(false, ordering: .acquiring), let listener else { return }
        do throws(LogFailure) { try member.subscribe() } catch { listener.failed(error) }
    }

    /// For whoever takes this place next. It may change with each answer of the group.
    func noteMember(_ member: GroupMember) {
        guard let place, let id = member.id, id != place.note else { return }
        do throws(SystemFailure) { try place.setNote(id) } catch {
            log.notice("The next worker here will not know of this one: \(error)")
        }
    }

    /// Little beside what the group takes to share out anew.
    private static let lookInterval = Duration.milliseconds(100)
}

/// The member that had this place before.
struct FormerMember {
    /// As the coordinator gave it: no other member ever has it.
    let id: String

    /// Whether a group of these would wait for it. One that has nobody else holds nobody up, and to join at once saves the
    /// time that coordinators give an empty group to gather.
    func holdsUp(_ members: [String]) -> Bool { members.contains(id) && members.count > 1 }
}
