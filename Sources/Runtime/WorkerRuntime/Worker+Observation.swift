internal import Clocks
internal import ImageModel
internal import Jobs
internal import Ledger
internal import Partition
internal import Ports
internal import Records
package import Telemetry

/// Destination of the spans of sampled jobs.
package struct TraceSink: Sendable {
    /// Sampled share of the jobs whose publisher decides nothing, between 0 and 1.
    package let share: Double
    package let send: @Sendable ([Span]) -> Void

    package init(share: Double, send: @escaping @Sendable ([Span]) -> Void) { (self.share, self.send) = (share, send) }
}

/// Measurements of jobs in progress. They decide nothing.
extension Worker {
    /// Notes a step of a flight that ended.
    func note(_ step: Step, of flight: FlightID, _ lane: Lane) {
        timings.note(step, on: lane)
        guard let traces = configuration.traces, let owned = partitions[flight.partition] else { return }
        for pending in owned.state.pendingJobs(of: flight) where trace(pending, traces) != nil {
            owned.steps[pending.place, default: []].append(step)
        }
    }

    private func trace(_ pending: PendingJob, _ traces: TraceSink) -> JobTrace? {
        JobTrace(pending.record, job: pending.job.id, traceparent: pending.job.traceparent, share: traces.share)
    }

    /// Counts why stored variants were not used for a source that will be fetched.
    func noteRefusals(of flight: FlightID, _ owned: OwnedPartition, at now: WallTime) {
        timings.refuse(owned.state.donorRefusals(of: flight, at: now))
    }

    /// Measures a flight whose results are announced. Each of its jobs waited until the first permit, and now has its
    /// variants.
    func noteMade(_ flight: FlightID) {
        guard let owned = partitions[flight.partition], let began = owned.state.beginning(of: flight) else { return }
        let work = monotonic - began
        let begun = now - work
        for pending in owned.state.pendingJobs(of: flight) {
            timings.wait(begun - pending.firstSeen, on: pending.job.lane)
            timings.work(work, on: pending.job.lane)
        }
    }

    /// Measures a record whose outcome is decided.
    func noteAnswer(_ record: Record, _ disposition: Disposition, of owned: OwnedPartition, at now: WallTime) {
        if let outcome = disposition.outcome, outcome.kind == .unchanged {
            timings.wait(now - record.timestamp, on: outcome.lane)
        }
        if case .control(let outcome) = disposition { noteRefusal(outcome, record) }
        guard let traces = configuration.traces else { return }
        switch disposition {
        case .unpark, .move, .control: return
        default: break
        }
        let steps = owned.steps.removeValue(forKey: RecordPlace(record)) ?? []
        let job: (id: String, traceparent: String?) =
            switch disposition {
            case .outcome(let outcome), .refreshing(let outcome, _), .paid(let outcome),
                .changed(_, _, let outcome), .dead(_, let outcome):
                (outcome.job, outcome.traceparent)
            case .park(let pending, _, _): (pending.job.id, pending.job.traceparent)
            // The outcome, which came before, has been traced.
            case .unpark, .move, .control: ("", nil)
            case .rekey(let job): (job.id, job.traceparent)
            }
        guard let trace = JobTrace(record, job: job.id, traceparent: job.traceparent, share: traces.share) else {
            return
        }
        traces.send(trace.spans(disposition, steps: steps, at: Moment(wall: now, monotonic: ports.time.monotonic)))
    }
}
