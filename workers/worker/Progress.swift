internal import ImageModel
internal import Ports
internal import Posix
internal import Records
internal import Telemetry
internal import WorkerRuntime

/// How far the work has come: one line that is written anew (jobs done, variants, rate, fetches saved, time left), each
/// minute one for each lane, and one when a lane becomes late or is in time again.
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

    /// Each second, until the task is cancelled.
    func show() async {
        let started = ContinuousClock.now
        var lanes = LaneLines(targets: targets, at: SystemTime.wallMilliseconds)
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            let status = await worker.status
            let counters = status.counters
            let offsets = (try? await log.partitionOffsets(Topic.worked, status.owned)) ?? []
            // Records of this worker's partitions that are not finished, over all lanes and the retries.
            let left = offsets.reduce(0) { $0 + status.unfinished($1) }
            lanes.count(offsets, owned: Set(status.owned), unfinished: status.unfinished)
            let seconds = (ContinuousClock.now - started) / .seconds(1)
            let variants = counters.renders + counters.unchanged
            // What never came to be fetched saved nothing.
            let saved = max(
                0, counters.jobs - counters.dead - counters.expired - counters.cancelled - counters.requests)
            line.update(
                Self.text(counters.jobs, variants, saved, left, seconds),
                [
                    "jobs": .int(Int64(counters.jobs)), "variants": .int(Int64(variants)), "saved": .int(Int64(saved)),
                    "left": .int(left), "seconds": .int(Int64(seconds)), "toRestore": .int(Int64(status.restoring)),
                    "restoredRows": .int(Int64(status.restore.rows)), "restoreRecords": .int(status.restore.expected),
                ])
            let now = SystemTime.wallMilliseconds
            var statuses: [Lane: LaneStatus] = [:]
            for lane in Lane.allCases { statuses[lane] = await worker.laneStatus(lane) }
            for line in lanes.changes(statuses, at: now) { logger.notice(line.text, line.fields) }
            guard lanes.isDue(at: now) else { continue }
            for line in lanes.lines(statuses, counters, at: now) { logger.info(line.text, line.fields) }
        }
        line.finish()
    }

    private static func text(_ jobs: Int, _ variants: Int, _ saved: Int, _ left: Int64, _ seconds: Double) -> String {
        let rate = Double(jobs) / max(seconds, 0.001)
        let time = rate > 0 ? "\(Int(Double(left) / rate)) s left" : "waiting"
        return
            "\(jobs) jobs, \(variants) variants, \(Figure.text(Double(variants) / max(seconds, 0.001), digits: 1))/s, "
            + "\(saved) fetches saved, \(left) to do, \(time)"
    }
}
