internal import Canonical
internal import Clocks
internal import Failures
internal import HTTPCache
internal import ImageModel
internal import Ledger
internal import Planning
internal import Ports
internal import Positions
internal import Records
internal import VariantSpec

/// What answers a job while its origin fails, and how it is made good: the source is asked for again on the slow lane.
extension Jobs {
    /// What is stored, if the job takes it and its origin lets it stand in: the very variants, or the nearest ones.
    func fallback(
        _ pending: PendingJob, _ snapshot: SourceSnapshot, _ results: [VariantSpec: VariantOutcome], _ now: Moment
    ) -> (kind: OutcomeKind, variants: VariantOutcomes)? {
        guard pending.job.fallback != .none, !pending.job.isOwn, var source = snapshot.source,
            now.wall < rules.freshness.ifError(source.policy, from: source.expires)
        else { return nil }
        source.isAlphaUnchecked = false
        var variants: [VariantOutcome] = []
        for spec in pending.choosing(by: source, rules.qualities).job.variants {
            if let done = results[spec], done.row != nil {
                variants.append(done)
            } else if let row = snapshot.variants.first(where: { $0.spec == spec && $0.version == source.version }) {
                let isFresh = row.expires > now.wall && pending.job.freshness != .force
                variants.append(VariantOutcome(spec: spec, kind: isFresh ? .unchanged : .stale, row: row))
            } else if pending.job.fallback == .degraded, let row = snapshot.nearest(to: spec, of: source) {
                variants.append(VariantOutcome(spec: spec, kind: .degraded, row: row))
            } else {
                return nil
            }
        }
        return (variants.contains { $0.kind == .degraded } ? .degraded : .stale, VariantOutcomes(variants))
    }

    /// The job wants what is stored alone, and not all of it is, or it is fresh no longer.
    mutating func answerFromStore(
        _ pending: PendingJob, _ plan: Plan, _ snapshot: SourceSnapshot, _ now: Moment,
        _ effects: inout [JobEffect]
    ) {
        let note = FailureNote(CacheFailure.notStored)
        if let standIn = fallback(pending, snapshot, [:], now) {
            return answer(pending, by: standIn, note, now, &effects)
        }
        effects.answer(pending, plan, failing: note, at: now)
    }

    /// The job is answered with what is stored, and the error beside it.
    mutating func answer(
        _ pending: PendingJob, by standIn: (kind: OutcomeKind, variants: VariantOutcomes), _ failure: FailureNote,
        _ now: Moment, _ effects: inout [JobEffect]
    ) {
        let outcome = pending.outcome(standIn.kind, variants: standIn.variants, failure: failure, at: now.wall)
        if pending.job.freshness == .cacheOnly {
            return effects.append(.work(.answer(pending.record, .outcome(outcome))))
        }
        effects.append(.work(.stoodIn(origin(of: pending))))
        owe(pending, outcome, Job.owedPrefix, failure, now, &effects)
    }

    /// The job is answered with what its origin lets stand in while it is asked for again.
    mutating func answerWhileRevalidating(
        _ pending: PendingJob, _ snapshot: SourceSnapshot, _ now: Moment, _ effects: inout [JobEffect]
    ) -> Bool {
        guard pending.job.freshness == .ifStale, !pending.job.isOwn, let source = snapshot.source else { return false }
        let until = rules.freshness.whileRevalidate(source.policy, from: source.expires)
        guard now.wall < until else { return false }
        var reuse = rules.reuse
        reuse.allowsStale = true
        let plan = Plan(pending.job.variants, snapshot: snapshot, now: now.wall, rules: reuse)
        guard plan.isUnchanged else { return false }
        let variants = VariantOutcomes(unchanged: snapshot, plan.unchangedPlaces)
        let outcome = pending.outcome(.unchanged, variants: variants, at: now.wall)
        owe(pending, outcome, Job.refreshPrefix, FailureNote(RetryCause.deferred), now, &effects)
        return true
    }

    /// Once for each variant of a source: many jobs may be answered by it. An owner that does not know what another one owes
    /// owes it again: both tell of it by one id, and the second asks the origin only where it is forced.
    private mutating func owe(
        _ pending: PendingJob, _ outcome: Outcome, _ prefix: String, _ cause: FailureNote,
        _ now: Moment, _ effects: inout [JobEffect]
    ) {
        var job = pending.job
        if owed.count >= Self.owedLimit { owed = owed.filter { $0.value.until > now.wall } }
        let isTold = prefix == Job.owedPrefix
        let isForced = job.freshness == .force
        // Of a job that refreshes alone nobody is told, and one that is not forced asks for nothing that is fresh again.
        let known = owed[job.source].flatMap {
            $0.until > now.wall && $0.until - now.wall <= rules.ownLife && ($0.isTold || !isTold)
                && ($0.isForced || !isForced) ? $0 : nil
        }
        job.variants = outcome.variants.filter { !isTold || !$0.kind.isFresh }.map(\.spec)
        if let known { job.variants = isTold ? job.variants.filter { !known.specs.contains($0) } : [] }
        if job.variants.isEmpty { return effects.append(.work(.answer(pending.record, .owing(outcome, nil)))) }
        guard owed.count < Self.owedLimit || owed[job.source] != nil else {
            return effects.append(.work(.answer(pending.record, .outcome(outcome))))
        }
        // An owner that does the job again after a kill owes the same.
        job.id = "\(prefix)\(job.source.hex)-\(pending.firstSeen.milliseconds)-\(pending.record.jobOrigin)"
        // Adds no field that older workers do not know: one of them may take it up during an upgrade.
        (job.lane, job.freshness, job.fallback, job.giveUp) = (.background, isForced ? .force : .ifStale, .stale, nil)
        let until = RecordLimits.time(now.wall + rules.ownLife)
        job.expires = until
        let specs = (known?.specs ?? []).union(job.variants)
        // A plain debt beside a forced one of other variants makes the entry plain: to ask once too often loses nothing.
        owed[job.source] = Owed(until: known?.until ?? until, isTold: isTold, isForced: isForced, specs: specs)
        // What was answered together is not asked for together: after the tier, which is as long for all of it, comes as much
        // again by chance.
        let wait = DelayTier.minute.wait + DelayTier.minute.wait.part(jitter())
        let debt = Debt(job: job, notBefore: now.wall + wait, cause: cause, after: pending.record)
        effects.append(.work(.answer(pending.record, .owing(outcome, debt))))
    }

    /// A job of ours is over, whatever came of it.
    mutating func settle(_ job: Job) {
        guard let known = owed[job.source], job.isOwed || (job.isRefresh && !known.isTold),
            job.freshness == .force || !known.isForced
        else { return }
        owed[job.source]?.specs.subtract(job.variants)
        if owed[job.source]?.specs.isEmpty == true { owed[job.source] = nil }
    }

    /// Sources that are known to be owed for: beyond them one is asked for when a job wants it.
    private static let owedLimit = 10_000
}

/// What a job of ours is to do for a source.
struct Owed: Sendable {
    let until: WallTime
    /// Those who were answered by what is stored are told once it is fresh again.
    let isTold: Bool
    /// The origin is asked though what is stored be fresh.
    let isForced: Bool
    /// What was answered by what is stored.
    var specs: Set<VariantSpec>
}

extension FailureNote {
    /// Whether the origin cannot be asked now, or says that it cannot answer: its resource may be as it was.
    var isOutage: Bool {
        if code == RetryCause.Code.hostBlocked.rawValue { return true }
        guard let code = FetchFailure.Code(rawValue: code) else { return false }
        switch code {
        // A name whose address is refused looks like one without: publishers are to learn nothing of the difference.
        case .refusedName, .resolution, .connection, .deadline, .tooManyRequests, .requestTimeout, .serverError,
            .truncated:
            return true
        default: return false
        }
    }
}

extension SourceSnapshot {
    /// Of this version, what shows all that is wanted and is nearest in size: enough pixels before too few.
    func nearest(to spec: VariantSpec, of source: SourceRow) -> VariantRow? {
        func ratio(_ row: VariantRow) -> Double? {
            let (stored, wanted) = (row.spec.extras, spec.extras)
            // What is to lie over a picture, or be hidden in it, is not left out; nor shown where nobody asked for it.
            guard row.version == source.version, stored == wanted || !(stored.isBurnedIn || wanted.isBurnedIn),
                row.spec.format == spec.format || [.jpeg, .png].contains(row.spec.format),
                DonorRule.keepsFrames(row, for: spec)
            else { return nil }
            let placement = spec.placement(asIn: row, around: source.regions)
            let size = row.spec.extras.rotation.upright(row.size)
            return placement.crop(from: size, showing: row.region).map {
                DonorRule.ratio(of: $0, to: placement.output)
            }
        }
        let rows = variants.compactMap { row in ratio(row).map { (row: row, ratio: $0) } }
        return rows.filter { $0.ratio >= 1 }.min { $0.ratio < $1.ratio }?.row ?? rows.max { $0.ratio < $1.ratio }?.row
    }
}
