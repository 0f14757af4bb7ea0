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

/// Stored variants for a job while its origin fails, and the later refresh of the source on the slow lane.
extension Jobs {
    /// Stored variants for the job, if it accepts them and its origin allows stale use: the requested ones, or the
    /// nearest.
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

    /// Completes a job that wants stored variants alone, although some are missing or not fresh.
    mutating func completeFromStore(
        _ pending: PendingJob, _ plan: Plan, _ snapshot: SourceSnapshot, _ now: Moment,
        _ effects: inout [JobEffect]
    ) {
        let note = FailureNote(CacheFailure.notStored)
        if let standIn = fallback(pending, snapshot, [:], now) {
            return complete(pending, by: standIn, note, now, &effects)
        }
        effects.complete(pending, plan, failing: note, at: now)
    }

    /// Completes the job with stored variants, and with the error.
    mutating func complete(
        _ pending: PendingJob, by standIn: (kind: OutcomeKind, variants: VariantOutcomes), _ failure: FailureNote,
        _ now: Moment, _ effects: inout [JobEffect]
    ) {
        let outcome = pending.outcome(standIn.kind, variants: standIn.variants, failure: failure, at: now.wall)
        if pending.job.freshness == .cacheOnly {
            return effects.append(.work(.complete(pending.record, .outcome(outcome))))
        }
        effects.append(.work(.stoodIn(origin(of: pending))))
        scheduleRefresh(pending, outcome, Job.staleRefreshPrefix, failure, now, &effects)
    }

    /// Completes the job with stale variants that its origin allows during revalidation, and schedules that.
    mutating func completeWhileRevalidating(
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
        scheduleRefresh(pending, outcome, Job.refreshPrefix, FailureNote(RetryCause.deferred), now, &effects)
        return true
    }

    /// Schedules a refresh once for each variant of a source, because one refresh may serve many jobs. An owner that
    /// does not know another's refresh schedules it again. Both have the same id, and the second asks the origin only
    /// if forced.
    private mutating func scheduleRefresh(
        _ pending: PendingJob, _ outcome: Outcome, _ prefix: String, _ cause: FailureNote,
        _ now: Moment, _ effects: inout [JobEffect]
    ) {
        var job = pending.job
        if scheduled.count >= Self.scheduledLimit { scheduled = scheduled.filter { $0.value.until > now.wall } }
        let isReported = prefix == Job.staleRefreshPrefix
        let isForced = job.freshness == .force
        // A job that only refreshes has no consumer to inform. A job that is not forced requests nothing that is fresh
        // again.
        let known = scheduled[job.source].flatMap {
            $0.until > now.wall && $0.until - now.wall <= rules.ownLife && ($0.isReported || !isReported)
                && ($0.isForced || !isForced) ? $0 : nil
        }
        job.variants = outcome.variants.filter { !isReported || !$0.kind.isFresh }.map(\.spec)
        if let known { job.variants = isReported ? job.variants.filter { !known.specs.contains($0) } : [] }
        if job.variants.isEmpty { return effects.append(.work(.complete(pending.record, .refreshing(outcome, nil)))) }
        guard scheduled.count < Self.scheduledLimit || scheduled[job.source] != nil else {
            return effects.append(.work(.complete(pending.record, .outcome(outcome))))
        }
        // An owner that repeats the job after a crash schedules the same refresh.
        job.id = "\(prefix)\(job.source.hex)-\(pending.firstSeen.milliseconds)-\(pending.record.jobOrigin)"
        // Adds no field that older workers do not know, because one of them may accept the record during an upgrade.
        (job.lane, job.freshness, job.fallback, job.retryFor) = (.background, isForced ? .force : .ifStale, .stale, nil)
        let until = RecordLimits.time(now.wall + rules.ownLife)
        job.expires = until
        let specs = (known?.specs ?? []).union(job.variants)
        // A plain pending refresh beside a forced one for other variants makes the entry plain. One request too many
        // does no harm.
        scheduled[job.source] = ScheduledRefresh(
            until: known?.until ?? until, isReported: isReported, isForced: isForced, specs: specs)
        // Refreshes of jobs that were completed together are spread out.
        let wait = Duration.minutes(1) + Duration.minutes(1).part(jitter())
        let pendingRefresh = PendingRefresh(
            job: job, notBefore: now.wall + wait, for: origin(of: pending), cause: cause, after: pending.record)
        effects.append(.work(.complete(pending.record, .refreshing(outcome, pendingRefresh))))
    }

    /// Ends the pending refresh of a job of the worker's own, with any result.
    mutating func settle(_ job: Job) {
        guard let known = scheduled[job.source], job.isStaleRefresh || (job.isRefresh && !known.isReported),
            job.freshness == .force || !known.isForced
        else { return }
        scheduled[job.source]?.specs.subtract(job.variants)
        if scheduled[job.source]?.specs.isEmpty == true { scheduled[job.source] = nil }
    }

    /// Number of sources whose pending refreshes are remembered. Above that, a job that wants a source causes its own
    /// request.
    private static let scheduledLimit = 10_000
}

/// Scheduled refresh of a source by a job of the worker's own.
struct ScheduledRefresh: Sendable {
    let until: WallTime
    /// Whether consumers that got stored variants are informed once these are fresh again.
    let isReported: Bool
    /// Whether the origin is asked even if the stored variants are fresh.
    let isForced: Bool
    /// Variants that were served from the store.
    var specs: Set<VariantSpec>
}

extension FailureNote {
    /// Whether the origin cannot be asked now, or reports that it cannot respond. Its resource may be unchanged.
    var isOutage: Bool {
        if code == RetryCause.Code.hostBlocked.rawValue { return true }
        guard let code = FetchFailure.Code(rawValue: code) else { return false }
        switch code {
        // A name with a refused address looks like a name without one, so that publishers cannot learn the difference.
        case .refusedName, .resolution, .connection, .deadline, .tooManyRequests, .requestTimeout, .serverError,
            .truncated:
            return true
        default: return false
        }
    }
}

extension SourceSnapshot {
    /// Stored variant of this version that shows the whole requested region and is nearest in size. Larger ones are
    /// preferred to smaller ones.
    func nearest(to spec: VariantSpec, of source: SourceRow) -> VariantRow? {
        func ratio(_ row: VariantRow) -> Double? {
            let (stored, wanted) = (row.spec.extras, spec.extras)
            // An overlay or a redaction that was requested is not left out, and none is shown that was not requested.
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
