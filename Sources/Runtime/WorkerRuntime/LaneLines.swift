package import Clocks
package import ImageModel
package import Ports
package import Records
package import Telemetry

/// The worker log's lines on lanes. Once a minute there is one for each lane that had work, and one for the parked jobs
/// of all lanes. A further line comes when a lane becomes late or is back on target.
package struct LaneLines {
    package typealias Line = (text: String, fields: Logger.Metadata)

    private static let interval = Duration.minutes(1)

    private let targets: ByLane<Duration>
    private var next: WallTime
    private var ends: [Place: Int64] = [:]
    private var came: [Lane: Int64] = [:]
    /// Unfinished records of retry topics, which only earlier versions wrote.
    package private(set) var unparked: Int64 = 0
    private var last = Counters()
    private var late: [Lane: Late] = [:]

    /// Start of a lane's lateness, and the lane's ended jobs at that time.
    private struct Late {
        let since: WallTime
        let ended: Int
    }

    private struct Place: Hashable {
        let lane: Lane
        let partition: PartitionID
    }

    package init(targets: ByLane<Duration>, at now: WallTime) { (self.targets, next) = (targets, now + Self.interval) }

    package func isDue(at now: WallTime) -> Bool { now >= next }

    /// Counts the records that came to the lanes of this worker's partitions, and those in old retry topics.
    package mutating func count(
        _ offsets: [PartitionOffsets], owned: Set<PartitionID>,
        unfinished: (PartitionOffsets) -> Int64 = { $0.records }
    ) {
        ends = ends.filter { owned.contains($0.key.partition) }
        unparked = 0
        for offsets in offsets where owned.contains(offsets.partition) {
            guard let lane = offsets.topic.lane else {
                unparked += unfinished(offsets)
                continue
            }
            let place = Place(lane: lane, partition: offsets.partition)
            // Records from before the partition came are not new.
            came[lane, default: 0] += max(0, offsets.bounds.upperBound - (ends[place] ?? offsets.bounds.upperBound))
            ends[place] = offsets.bounds.upperBound
        }
    }

    /// Changes since the last check. A lane is back on target below half of it, so that a lane at its edge does not
    /// change each second. In addition, a job of the lane must have ended meanwhile, or no job of it be parked. A late job
    /// that was merely parked is as late as before.
    package mutating func changes(_ lanes: [Lane: LaneStatus], _ counters: Counters, at now: WallTime) -> [Line] {
        Lane.allCases.compactMap { lane in
            guard let status = lanes[lane] else { return nil }
            let target = targets[lane] / .seconds(1)
            let age = Self.age(of: status, at: now) ?? 0
            let fields: Logger.Metadata = ["lane": .string(lane.rawValue), "oldestSeconds": .double(age)]
            let ended = OutcomeKind.allCases.reduce(0) { $0 + counters.jobs($1, on: lane) }
            let name = "\(lane.title) lane"
            if let late = late[lane] {
                guard age * 2 <= target, ended > late.ended || status.parked == 0 else { return nil }
                self.late[lane] = nil
                return ("\(name) back on target after \((now - late.since).components.seconds) s.", fields)
            }
            guard age > target else { return nil }
            late[lane] = Late(since: now, ended: ended)
            return (
                "\(name) late: oldest job \(Figure.text(age, digits: 1)) s (target \(Figure.text(target, digits: 1)) s)"
                    + "\(Self.waits(of: status)).", fields
            )
        }
    }

    private static func age(of status: LaneStatus, at now: WallTime) -> Double? {
        status.oldest.map { max(.zero, now - $0).seconds }
    }

    private static func waits(of status: LaneStatus) -> String {
        guard status.unfinished > 0 else { return "" }
        return "; \(status.unfinished) pending (\(status.inProgress) in progress, \(status.fetches) waiting to fetch, "
            + "\(status.renders) to render, \(status.parked) parked)"
    }

    /// Line about the jobs of all lanes that wait: parked ones, and those in old retry topics.
    private func parked(_ lanes: [Lane: LaneStatus], _ counters: Counters) -> [Line] {
        let (parked, retries) = (parked(lanes), counters.retries - last.retries)
        guard parked > 0 || retries > 0 else { return [] }
        return [
            (
                "Parked jobs: \(parked); \(retries) failed attempts in the last minute.",
                ["parked": .int(parked), "retries": .int(Int64(retries))]
            )
        ]
    }

    /// Jobs that wait, of all lanes.
    package func parked(_ lanes: [Lane: LaneStatus]) -> Int64 {
        unparked + lanes.values.reduce(0) { $0 + Int64($1.parked) }
    }

    /// The lines of the past minute. The next minute begins.
    package mutating func lines(_ lanes: [Lane: LaneStatus], _ counters: Counters, at now: WallTime) -> [Line] {
        defer { (next, last, came) = (now + Self.interval, counters, [:]) }
        let told: [Line] = Lane.allCases.compactMap { lane in
            guard let status = lanes[lane] else { return nil }
            let all = OutcomeKind.allCases.map { ($0, counters.jobs($0, on: lane) - last.jobs($0, on: lane)) }
            let done = all.reduce(0) { $0 + ($1.0.isSuccess ? $1.1 : 0) }
            let failed = all.reduce(0) { $0 + ($1.0.isSuccess ? 0 : $1.1) }
            let came = came[lane] ?? 0
            guard came > 0 || done > 0 || failed > 0 || status.unfinished > 0 else { return nil }
            let age = Self.age(of: status, at: now)
            let isLate = age.map { $0 > targets[lane] / .seconds(1) } ?? false
            var text = "\(lane.title) lane\(isLate ? " late" : ""): "
            text += age.map { "oldest job \(Figure.text($0, digits: 1)) s" } ?? "no new job pending"
            text += "; \(came) received, \(done) completed, \(failed) failed in the last minute"
            return (
                text + Self.waits(of: status) + ".",
                [
                    "lane": .string(lane.rawValue), "late": .bool(isLate), "oldestSeconds": .double(age ?? 0),
                    "in": .int(came), "done": .int(Int64(done)), "failed": .int(Int64(failed)),
                    "unfinished": .int(Int64(status.unfinished)), "waitFetch": .int(Int64(status.fetches)),
                    "waitRender": .int(Int64(status.renders)), "parked": .int(Int64(status.parked)),
                    "inProgress": .int(Int64(status.inProgress)),
                ]
            )
        }
        return parked(lanes, counters) + told
    }
}
