package import ImageModel
package import Ports
package import Records
package import Telemetry

/// One line a minute for each lane that had anything to do: how old, how many came and were done, what the others wait for.
/// One for what stands in retry topics, whichever its lane. And one when a lane becomes late, or is in time again.
package struct LaneLines {
    package typealias Line = (text: String, fields: Logger.Metadata)

    /// Milliseconds.
    private static let interval: Int64 = 60_000

    private let targets: ByLane<Duration>
    private var next: Int64
    private var ends: [Place: Int64] = [:]
    private var came: [Lane: Int64] = [:]
    /// Records of the retry topics that are not finished.
    private var retrying: Int64 = 0
    private var last = Counters()
    /// Since when a lane is late, milliseconds since 1970.
    private var lateSince: [Lane: Int64] = [:]

    private struct Place: Hashable {
        let lane: Lane
        let partition: PartitionID
    }

    package init(targets: ByLane<Duration>, at now: Int64) { (self.targets, next) = (targets, now + Self.interval) }

    package func isDue(at now: Int64) -> Bool { now >= next }

    /// How many records came to the lanes of what this worker owns, and how many stand in its retry topics.
    package mutating func count(
        _ offsets: [PartitionOffsets], owned: Set<PartitionID>,
        unfinished: (PartitionOffsets) -> Int64 = { $0.records }
    ) {
        ends = ends.filter { owned.contains($0.key.partition) }
        retrying = 0
        for offsets in offsets where owned.contains(offsets.partition) {
            guard let lane = offsets.topic.lane else {
                retrying += unfinished(offsets)
                continue
            }
            let place = Place(lane: lane, partition: offsets.partition)
            // What stood there when the partition came is not new.
            came[lane, default: 0] += max(0, offsets.bounds.upperBound - (ends[place] ?? offsets.bounds.upperBound))
            ends[place] = offsets.bounds.upperBound
        }
    }

    /// What changed since the last look. A lane is in time again below half of its target, so that one at its edge is not told
    /// of each second.
    package mutating func changes(_ lanes: [Lane: LaneStatus], at now: Int64) -> [Line] {
        Lane.allCases.compactMap { lane in
            guard let status = lanes[lane] else { return nil }
            let target = targets[lane] / .seconds(1)
            let age = Self.age(of: status, at: now) ?? 0
            let fields: Logger.Metadata = ["lane": .string(lane.rawValue), "oldestSeconds": .double(age)]
            let name = "The \(lane.rawValue) lane is"
            if let since = lateSince[lane] {
                guard age * 2 <= target else { return nil }
                lateSince[lane] = nil
                return ("\(name) in time again: it was late for \((now - since) / 1000) s.", fields)
            }
            guard age > target else { return nil }
            lateSince[lane] = now
            return (
                "\(name) late: its oldest job is \(Figure.text(age, digits: 1)) s old, and should be begun within \(Figure.text(target, digits: 1)) s"
                    + "\(Self.waits(of: status)).", fields
            )
        }
    }

    private static func age(of status: LaneStatus, at now: Int64) -> Double? {
        status.oldest.map { Double(max(0, now - $0)) / 1000 }
    }

    private static func waits(of status: LaneStatus) -> String {
        guard status.unfinished > 0 else { return "" }
        return "; \(status.unfinished) are unfinished (sources that wait for a fetch: \(status.fetches), "
            + "for a render: \(status.renders); jobs that are tried again: \(status.retries))"
    }

    /// Of all lanes: only its record says which is a job's.
    private func retries(_ counters: Counters) -> [Line] {
        let putOff = counters.retries - last.retries
        guard retrying > 0 || putOff > 0 else { return [] }
        return [
            (
                "retries: \(retrying) in retry topics; \(putOff) put off in the last minute.",
                ["retrying": .int(retrying), "putOff": .int(Int64(putOff))]
            )
        ]
    }

    /// The minute's lines; the next minute begins.
    package mutating func lines(_ lanes: [Lane: LaneStatus], _ counters: Counters, at now: Int64) -> [Line] {
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
            var text = "\(lane.rawValue)\(isLate ? " is late" : ""): "
            text += age.map { "the oldest job is \(Figure.text($0, digits: 1)) s old" } ?? "nothing new is unfinished"
            text += "; \(came) came, \(done) were done, \(failed) failed in the last minute"
            return (
                text + Self.waits(of: status) + ".",
                [
                    "lane": .string(lane.rawValue), "late": .bool(isLate), "oldestSeconds": .double(age ?? 0),
                    "in": .int(came), "done": .int(Int64(done)), "failed": .int(Int64(failed)),
                    "unfinished": .int(Int64(status.unfinished)), "waitFetch": .int(Int64(status.fetches)),
                    "waitRender": .int(Int64(status.renders)), "waitRetry": .int(Int64(status.retries)),
                ]
            )
        }
        return retries(counters) + told
    }
}
