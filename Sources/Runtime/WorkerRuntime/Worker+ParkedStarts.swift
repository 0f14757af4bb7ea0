package import Canonical
internal import Clocks
internal import Failures
package import Hosts
internal import ImageModel
package import Jobs
internal import Ledger
internal import Partition
internal import Permits
internal import Ports
internal import Positions
package import Records
internal import Telemetry

/// Starts of parked jobs: the oldest of a host and lane first, as soon as its host has room.
extension Worker {
    /// Starts the parked jobs that are due and whose hosts have room. None starts before the owner has applied `parked` up
    /// to its own epoch row, and before it knows which of them an earlier owner completed.
    func startParked(_ owned: OwnedPartition) {
        guard phase.isRunning, owned.mayStartParked, hasReadControls(owned) else { return }
        do throws(IndexFailure) {
            try dropEnded(owned)
            if owned.index.parked.parkedCounts.isEmpty { return }
            let moment = moment
            _ = try owned.index.parked.ready(at: moment.wall, limit: Self.readyAtOnce)
            try startEnding(owned, at: moment)
            guard knowsHosts else { return }
            let next = owned.starts.next(of: owned.index.parked.parkedCounts, limit: configuration.readAhead) {
                room(for: $0, in: owned, at: moment)
            }
            defer { owned.noteParked { scheduler.use(of: $0, at: moment) > 0 } }
            for (share, jobs) in next {
                // Rows that were started stay in the index until their tombstones are applied.
                let oldest = try owned.index.parked.oldest(
                    of: share, from: 0, limit: owned.starts.count(share) + min(jobs, Self.startsAtOnce))
                for job in oldest {
                    // A job that starts may take the room of several: an earlier one may have led to another host.
                    guard room(for: HostLane(share.host, share.lane), in: owned, at: moment) > 0 else { break }
                    start(job, owned, at: moment)
                }
            }
        } catch {
            if case .corrupt = error { rebuild(owned, error) } else { note(error) }
        }
    }

    private func room(for share: HostLane, in owned: OwnedPartition, at moment: Moment) -> Int {
        owned.state.room(for: share, atMost: scheduler.use(of: share.host, at: moment))
    }

    /// Started parked jobs of a partition; nil if this worker does not own it.
    package func parkedStarts(_ partition: PartitionID) -> ParkedStarts? { partitions[partition]?.starts }
    /// Active pauses in a partition, and sources whose flights have begun there.
    package func pauses(_ partition: PartitionID) -> [Pause] { partitions[partition]?.state.pauses.all ?? [] }
    package func sourcesUnderWay(_ partition: PartitionID) -> Set<SourceKey> {
        partitions[partition]?.state.sourcesUnderWay ?? []
    }
    /// Number of further jobs of a host and lane that may start.
    package func room(for share: HostLane, in partition: PartitionID) -> Int {
        partitions[partition].map { room(for: share, in: $0, at: moment) } ?? 0
    }

    private static let readyAtOnce = 1_000
    private static let startsAtOnce = 64

    /// Starts jobs that expire or are abandoned by now, whether their hosts have room or not.
    private func startEnding(_ owned: OwnedPartition, at moment: Moment) throws(IndexFailure) {
        // Rows that were started are found once more.
        guard owned.starts.count < 2 * configuration.readAhead else { return }
        let limit = owned.starts.count + Self.startsAtOnce
        for job in try owned.index.parked.ending(at: moment.wall, limit: limit) { start(job, owned, at: moment) }
    }

    private func start(_ job: ParkedJob, _ owned: OwnedPartition, at moment: Moment) {
        guard owned.starts.begin(job) else { return }
        busyAt = monotonic
        var recent = exchange(&owned.recentParts[.parked], with: RecentParts())
        let event = takeUp(job.record(in: owned.id), &recent)
        owned.recentParts[.parked] = recent
        feed(event, to: owned, at: moment)
    }

    /// The event of a record of a lane or an old retry topic, unless its job is parked: the record then counts as finished, because the row takes
    /// its place. That happens after an operator set the offset back.
    func unlessParked(_ event: PartitionEvent, _ owned: OwnedPartition) -> PartitionEvent {
        guard case .arrived(let pending) = event, pending.record.topic != .parked,
            let reach = owned.index.parked.parkedReach, pending.record.offset <= reach
        else { return event }
        do throws(IndexFailure) {
            let identity = JobIdentity.record(CompletedRecord(pending.record))
            return try owned.index.parked.parked(pending.job.source, identity) == nil ? event : .parkedBefore(pending.record)
        } catch {
            // The job runs beside its row: it is done twice rather than not at all.
            note(error)
            return event
        }
    }

    /// Deletes the rows of jobs whose outcomes an earlier owner left in the log without their tombstones.
    func dropEnded(_ owned: OwnedPartition) throws(IndexFailure) {
        guard let ended = owned.outcomeTail?.endedParked, !ended.isEmpty else { return }
        var gone: [ParkedKey] = []
        var dropped = 0
        for ending in ended {
            guard let job = try owned.index.parked.parked(ending.source, ending.identity) else {
                gone.append(ending)
                continue
            }
            guard owned.starts.begin(job) else { continue }
            dropped += 1
            owned.outbox.add(Outbox.Completion(job.record(in: owned.id), .unpark, at: now))
        }
        owned.outcomeTail?.dropEndedParked(gone)
        if dropped > 0 {
            logger.info(
                "Parked jobs that an earlier owner completed before it ended are not repeated.",
                ["partition": .string("\(owned.id)"), "jobs": .int(Int64(dropped))])
        }
    }

    /// Whether no parked job will start: without a time limit, whether there is none; else whether none starts within it.
    func hasNoParked(_ owned: OwnedPartition, for patience: Duration?) -> Bool {
        let counts = owned.index.parked.parkedCounts
        if counts.isEmpty { return true }
        guard let patience else { return false }
        // Ready jobs wait for their hosts alone.
        let pauses = owned.state.pauses
        let hosts = counts.filter { $1.ready > 0 && !outlives(pauses.holding($0), patience) }.keys.map(\.host)
        if !hosts.isEmpty { guard let left = blockLeft(of: hosts), left > patience else { return false } }
        do throws(IndexFailure) {
            return try owned.index.parked.nextDue().map { $0 - now > patience } ?? true
        } catch { return false }
    }
}

extension ParkedJob {
    /// The job as a record of `parked`, from which it is decoded as from any other topic.
    func record(in partition: PartitionID) -> Record {
        let new = row.newRecord(partition: partition, at: row.note.firstSeen)
        return Record(
            topic: .parked, partition: partition, offset: offset, timestamp: row.note.firstSeen, key: new.key,
            value: new.value, headers: new.headers)
    }
}
