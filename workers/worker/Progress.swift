internal import ImageModel
internal import Ports
internal import Posix
internal import Records
internal import Telemetry
internal import WorkerRuntime

/// The worker's progress: one rewritten line (jobs done, variants, rate, fetches saved, time left), and the lines on
/// lanes (`LaneLines`).
struct Progress {
    private let worker: Worker
    private let log: any Log
    private let logger: Logger
    private let line: ProgressLine
    private let targets: ByLane<Duration>

    init(_ worker: Worker, log: any Log, targets: ByLane<Duration>, logger: Logger) {
        (self.worker, self.log, self.targets, self.logger) = (worker, log, targets, logger)
        line = ProgressLine(to: logger)
    }

    /// Updates each second until the task is cancelled, and once more then.
    func show() async {
        let started = ContinuousClock.now
        var lanes = LaneLines(targets: targets, at: SystemTime.wall)
        var pace = ProgressPace()
        func update(_ status: WorkerStatus, left: Int64, parked: Int64?) {
            let (counters, seconds) = (status.counters, (ContinuousClock.now - started) / .seconds(1))
            let variants = counters.renders + counters.unchanged
            let saved = counters.savedFetches
            // A worker that cannot start has no progress.
            guard status.assignments > 0 else { return }
            line.update(
                pace.text(
                    jobs: counters.jobs, variants: variants, saved: saved, left: left, parked: parked,
                    seconds: seconds),
                [
                    "jobs": .int(Int64(counters.jobs)), "variants": .int(Int64(variants)), "saved": .int(Int64(saved)),
                    "left": .int(left), "parked": .int(parked ?? 0), "seconds": .int(Int64(seconds)),
                    "toRestore": .int(Int64(status.restoring)), "restoredRows": .int(Int64(status.restore.rows)),
                    "restoreRecords": .int(status.restore.expected),
                ])
        }
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            let status = await worker.status
            let offsets = (try? await log.partitionOffsets(Topic.jobTopics, status.owned)) ?? []
            lanes.count(offsets, owned: Set(status.owned), unfinished: status.unfinished)
            var statuses: [Lane: LaneStatus] = [:]
            for lane in Lane.allCases { statuses[lane] = await worker.laneStatus(lane) }
            // Unfinished records of this worker's partitions, and parked jobs.
            let (unread, parked) = (offsets.reduce(0) { $0 + status.unfinished($1) }, lanes.parked(statuses))
            update(status, left: unread - lanes.unparked + parked, parked: parked)
            let now = SystemTime.wall
            for line in lanes.changes(statuses, status.counters, at: now) { logger.notice(line.text, line.fields) }
            guard lanes.isDue(at: now) else { continue }
            for line in lanes.lines(statuses, status.counters, at: now) { logger.info(line.text, line.fields) }
        }
        // Includes the jobs of the last second.
        let status = await worker.status
        update(status, left: Int64(status.waiting), parked: nil)
        line.finish()
    }
}
