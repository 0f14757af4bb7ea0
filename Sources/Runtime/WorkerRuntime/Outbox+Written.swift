internal import Clocks
internal import Failures
internal import ImageModel
internal import Jobs
internal import JSONText
internal import Ledger
internal import Partition
internal import Ports
internal import Positions
internal import Records

extension Outbox {
    /// Outcomes as the log gets them.
    struct Written: Sendable {
        struct Entry: Sendable {
            let place: RecordPlace
            /// Number of records that the outcome consists of.
            let records: Int
            /// Outcome to count; nil for a row of `parked`.
            let count: Counters.Completion?
            /// The outcome, if it may be too large for the log. It is not kept if every log accepts its size.
            let large: Completion?
            /// Outcome that finishes the record, written once this entry is durable.
            let next: Completion?
            /// Key of the row or tombstone of `parked` that the entry is.
            var parked: RecordKey?

            /// Whether `next` waits for all such entries of its batch, because the pending refresh may belong to
            /// another job. A dead letter belongs to its own job alone.
            let waitsForAll: Bool

            /// The entry after its own records are durable, while those of another entry are not.
            var waiting: Entry {
                Entry(place: place, records: 0, count: count, large: large, next: next, waitsForAll: waitsForAll)
            }
        }

        private(set) var entries: [Entry] = []
        /// Records of the entries, in order.
        private(set) var records: [NewRecord] = []
        /// Epoch of the owner in `parked`.
        private(set) var parkedEpoch: Int64 = 0

        var isEmpty: Bool { entries.isEmpty }
        /// Whether an outcome of a parked job is among them, whose tombstone follows.
        var endsParked: Bool {
            entries.contains { if case .unpark? = $0.next?.disposition { true } else { false } }
        }

        /// Whether all records that other outcomes wait for are durable.
        func isReady(_ results: [AppendResult]) -> Bool {
            var next = 0
            return entries.allSatisfy { entry in
                defer { next += entry.records }
                return !entry.waitsForAll || results[next..<next + entry.records].allSatisfy { $0.offset != nil }
            }
        }

        mutating func add(_ entry: Entry, _ records: some Sequence<NewRecord>) {
            entries.append(entry)
            self.records += records
        }

        /// - Parameter epoch: the owner's in `parked`.
        mutating func add(_ completions: [Completion], partitions: Int, keys: JobKeys?, epoch: Int64) {
            parkedEpoch = epoch
            entries.reserveCapacity(entries.count + completions.count)
            records.reserveCapacity(records.count + completions.count)
            var json = JSONWriter(reserving: 2_048)
            for completion in completions { add(completion, partitions: partitions, keys, epoch, by: &json) }
        }

        private mutating func add(
            _ completion: Completion, partitions: Int, _ keys: JobKeys?, _ epoch: Int64, by json: inout JSONWriter
        ) {
            let (record, first) = (completion.record, records.count)
            var (count, next): (Counters.Completion?, Completion?)
            var parked: RecordKey?
            var (isCompletion, waitsForAll) = (true, false)
            switch completion.disposition {
            case .outcome(let outcome):
                // A job for the rest of a change is part of the job that found it.
                count = outcome.job.hasPrefix(Job.changePrefix) ? nil : Counters.Completion(outcome)
                let key = completion.parked.map { RecordKey.job($0.source).bytes } ?? record.key
                records.append(outcome.newRecord(partition: record.partition, key: key, by: &json))
                if completion.parked != nil { next = Completion(record, .unpark, at: completion.at) }
            case .refreshing(let outcome, let pendingRefresh):
                if let pendingRefresh {
                    records += pendingRefresh.newRecords(at: completion.at, signedBy: keys).map { $0.announced(in: epoch) }
                }
                (isCompletion, waitsForAll) = (false, true)
                next = Completion(record, .outcome(outcome), at: completion.at)
            case .paid(let outcome):
                records += outcome.refreshed(partition: record.partition)
                (isCompletion, waitsForAll) = (false, true)
                next = Completion(record, .outcome(outcome), at: completion.at)
            case .changed(let change, let variants, let outcome):
                records += change.newRecords(
                    variants, partition: record.partition, traceparent: outcome.traceparent)
                (isCompletion, waitsForAll) = (false, true)
                next = Completion(record, .outcome(outcome), at: completion.at)
            case .dead(let deadLetter, let outcome):
                records.append(deadLetter.newRecord(partition: record.partition))
                next = Completion(record, .outcome(outcome), key: deadLetter.key, at: completion.at)
            case .unpark:
                if let known = completion.parked {
                    parked = .parked(known.source, known.identity)
                    records.append(
                        ParkedRow.drop(known.source, known.identity, partition: record.partition).announced(in: epoch))
                }
            case .park(let pending, let parking, let cause):
                if let known = completion.parked {
                    let row = ParkedRow(known, pending, parking, cause, record)
                    parked = row.key
                    records.append(row.newRecord(partition: record.partition, at: completion.at).announced(in: epoch))
                }
            case .move(let row):
                parked = row.key
                records.append(row.newRecord(partition: record.partition, at: completion.at).announced(in: epoch))
            case .control(let outcome):
                records.append(outcome.newRecord(partition: record.partition, key: record.key))
            case .rekey(let job):
                isCompletion = false
                var headers = record.keptHeaders
                headers.append(EventHeader.id, job.id)
                headers.append(EventHeader.rekeyed, "\(record.jobOrigin)")
                records.append(
                    NewRecord(
                        topic: record.topic, partition: job.source.partition(of: partitions),
                        key: RecordKey.job(job.source).bytes, value: record.value, headers: headers))
            }
            for place in first..<records.count where isCompletion {
                // In place, because a copy would write all headers once more.
                if let identity = completion.parked?.identity {
                    records[place].headers.append(completed: identity)
                } else {
                    records[place].headers.append(completed: record)
                }
            }
            var isLarge = (first..<records.count).contains { records[$0].packedBytes > RecordLimits.sureBytes }
            // The log had the row before.
            if case .move = completion.disposition { isLarge = false }
            entries.append(
                Entry(
                    place: RecordPlace(record), records: records.count - first, count: count,
                    large: isLarge ? completion : nil, next: next, parked: parked, waitsForAll: waitsForAll))
        }
    }
}

extension Outbox.Completion {
    /// The same outcome in fewer bytes, for a log that refused it: less of the body in a dead letter, no variants in an
    /// outcome. A job that cannot be republished is dead, because it would never be read again.
    func small(_ refusal: FailureNote) -> Outbox.Completion {
        switch disposition {
        case .outcome(let outcome), .refreshing(let outcome, _), .paid(let outcome), .changed(_, _, let outcome):
            Outbox.Completion(record, .outcome(outcome.withoutVariants), key: record.key, at: at)
        case .dead(let deadLetter, let outcome):
            Outbox.Completion(record, .dead(deadLetter.small(), outcome.withoutVariants), at: at)
        case .park(let pending, _, _): dead(pending.job, pending.attempts, refusal)
        case .rekey(let job): dead(job, 0, refusal)
        // These have no body that could be too large.
        case .unpark, .move, .control: self
        }
    }

    private func dead(_ job: Job, _ attempts: Int, _ refusal: FailureNote) -> Outbox.Completion {
        let deadLetter = DeadLetter(of: record, id: job.id, cause: refusal, attempts: attempts, url: job.url, at: at)
        var outcome = Outcome(
            job: job.id, source: job.source, url: job.url, lane: job.lane, kind: .dead, variants: [], failure: refusal,
            attempts: attempts, at: at, traceparent: job.traceparent)
        outcome.replays = record.replays
        return Outbox.Completion(record, .dead(deadLetter.small(key: RecordKey.job(job.source).bytes), outcome), at: at)
    }
}

extension ParkedRow {
    fileprivate init(
        _ parked: ParkedKey, _ pending: PendingJob, _ parking: Parking, _ cause: FailureNote, _ record: Record
    ) {
        let job = pending.job
        let note = RetryNote(
            job: job.id, lane: job.lane, attempt: pending.attempts, notBefore: pending.notBefore,
            firstSeen: pending.firstSeen, heldSince: pending.heldSince, failingSince: pending.failingSince,
            crashes: pending.crashes, cause: cause, origin: record.jobOrigin, traceparent: job.traceparent)
        self.init(
            parked.source, parked.identity, note, host: parking.host, worksAs: parking.worksAs,
            isMoved: pending.movedTo != nil, ends: parking.ends, body: record.value ?? [], kept: ParkedRow.kept(of: record))
    }
}

extension PendingRefresh {
    /// Rows of `parked`, signed if workers accept signed jobs alone. Their epoch is still to be added.
    func newRecords(at now: WallTime, signedBy keys: JobKeys?) -> [NewRecord] {
        guard let change else { return [newRecord(of: job, at: now, signedBy: keys)] }
        return change.headers.map { header in
            var job = job
            job.id = SourceChange.id(job.id, telling: header)
            return newRecord(of: job, [header], at: now, signedBy: keys)
        }
    }

    private func newRecord(
        of job: Job, _ kept: RecordHeaders = [], at now: WallTime, signedBy keys: JobKeys?
    ) -> NewRecord {
        var kept = kept
        let body = job.body
        if let keys { kept.append(EventHeader.signature, keys.signature(lane: job.lane, id: job.id, body: body)) }
        let note = RetryNote(
            job: job.id, lane: job.lane, attempt: 0, notBefore: notBefore, firstSeen: now, cause: cause,
            origin: record.jobOrigin, traceparent: job.traceparent)
        let row = ParkedRow(
            job.source, JobIdentity(ofOwn: job.id), note, host: parking.host, worksAs: parking.worksAs,
            ends: parking.ends, body: body, kept: kept)
        return row.newRecord(partition: record.partition, at: now)
    }
}

extension DeadLetter {
    fileprivate func small(key: [UInt8]? = nil) -> DeadLetter {
        var deadLetter = self
        deadLetter.cut()
        deadLetter.key = key ?? self.key
        return deadLetter
    }
}

extension Record {
    /// Headers for the job's next record: all but its id. If they are larger than headers ever are, only those that
    /// have a meaning here.
    fileprivate var keptHeaders: RecordHeaders {
        let own = headers.filter { $0.name != EventHeader.id }
        if headers.byteCount <= RecordLimits.headerBytes { return RecordHeaders(own) }
        return RecordHeaders(
            own.filter { EventHeader.isOurs($0.name) && $0.value.count <= EventHeader.messageLimit + 3 })
    }
}
