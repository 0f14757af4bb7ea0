internal import Canonical
internal import Clocks
internal import Failures
internal import Hosts
internal import ImageModel
internal import Ledger
package import Records

/// Pauses of lanes and hosts: arrivals are parked, queued jobs leave their flights, and parked ones do not start. Jobs that
/// run are completed.
extension Jobs {
    /// Applies a pause or a resume.
    mutating func pause(_ control: Control, _ record: Record, _ now: Moment, _ effects: inout [JobEffect]) {
        if let refusal = pauses.apply(control, record, at: now.wall) {
            return effects.append(
                .work(.complete(record, .control(ControlOutcome(refusing: control, refusal, at: now.wall)))))
        }
        if control.verb == .pause, !pauses.isEmpty { parkPaused(now, &effects) }
    }

    /// Parks the jobs of flights that have not begun, if they are paused.
    mutating func parkPaused(_ now: Moment, _ effects: inout [JobEffect]) {
        for id in flights.ids.sorted() where flights[id].map({ $0.course == nil }) ?? false {
            change(id, now, &effects) { jobs, pending, effects in
                jobs.isPaused(pending, now, &effects) ? nil : pending
            }
        }
    }

    /// Parks a job whose lane or host is paused, or if all are.
    mutating func isPaused(_ pending: PendingJob, _ now: Moment, _ effects: inout [JobEffect]) -> Bool {
        if pauses.isEmpty { return false }
        let share = share(of: pending)
        var held = pauses.holding(pending.lane(at: now.wall, rules.retry)).map { (host: share, pause: $0) }
        // A row starts by the host that it is parked for, and that must be the paused one.
        for host in [share, origin(of: pending), OriginHost(of: pending.job.url.fetched)] where held == nil {
            held = pauses.holding(host).map { (host, $0) }
        }
        guard let held else { return false }
        park(pending, awaiting: held.host, FailureNote(RetryCause.paused(held.pause)), now, &effects)
        return true
    }

    /// Controls whose effect on the pauses is durable, because the newest row has these.
    package mutating func recordedPauses(_ row: [Pause]) -> [Pauses.Decided] { pauses.recorded(row) }
}
