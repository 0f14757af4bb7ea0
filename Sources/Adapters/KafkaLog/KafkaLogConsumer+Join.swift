internal import Clocks
internal import Glibc
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Synchronization

/// Joining the group, and leaving a note for this member's successor.
///
/// A killed member stays in the group until its session ends. If a worker joins before that, all others release their
/// partitions, and the coordinator lets them wait for the dead member: no job runs for almost a session. So a dead
/// member's successor joins once that session has ended. Until then the others continue, and only the dead member's
/// partitions wait.
extension KafkaLogConsumer {
    func join(_ member: GroupMember) throws(LogFailure) {
        guard let place else { return try member.subscribe() }
        let former = FormerMember(id: place.note)
        // By then the coordinator has missed any member that was killed before this process began.
        let limit = SystemTime.monotonic + log.configuration.timing.session + Self.sweepInterval
        OwnThread.start("kafka join") { [weak self, log] in
            var isReported = false
            while let consumer = self, consumer.decision.load(ordering: .relaxed) == 0,
                SystemTime.monotonic < limit,
                // If the coordinator cannot be asked, its last response counts.
                (try? log.questions.members()).map({ former.holdsUp($0.map(\.id)) }) ?? isReported
            {
                if !isReported {
                    log.notice(
                        "The group still counts on the worker that ran here before: this one joins when its session is over, so that the others work on"
                    )
                }
                isReported = true
                usleep(Self.lookInterval.microseconds)
            }
            // It may have joined meanwhile, for instance after a stall.
            guard let consumer = self, consumer.decision.load(ordering: .relaxed) == 0 else { return }
            consumer.mayJoin.store(true, ordering: .releasing)
            consumer.thread.wake()
        }
    }

    /// Joins at the next turn of the poll thread.
    func joinIfDue(_ member: GroupMember) {
        guard mayJoin.exchange(false, ordering: .acquiring), let listener else { return }
        do throws(LogFailure) { try member.subscribe() } catch { listener.failed(error) }
    }

    /// Notes the member id for the next worker at this place. The id may change with each response of the group.
    func noteMember(_ member: GroupMember) {
        guard let place, let id = member.id, id != place.note else { return }
        do throws(SystemFailure) { try place.setNote(id) } catch {
            log.notice("The next worker here will not know of this one: \(error)")
        }
    }

    /// Short compared to the time of a rebalance.
    private static let lookInterval = Duration.milliseconds(100)
}

/// The member that had this place before.
struct FormerMember {
    /// Member id from the coordinator, which never reuses it.
    let id: String

    /// Whether a group of these members would wait for it. A member that is alone delays nobody, and joining at once
    /// saves the time that coordinators give an empty group to gather.
    func holdsUp(_ members: [String]) -> Bool { members.contains(id) && members.count > 1 }
}
