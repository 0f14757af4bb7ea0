internal import Canonical
internal import ImageModel
internal import Records

/// Jobs that wait in memory for their time: few, and none for longer than ten seconds.
struct ShortWaits: Sendable {
    private var heap = Heap<Entry>()
    private var waiting: [RecordPlace: PendingJob] = [:]
    /// Of them, those that wait for their host alone.
    private var held: [RecordPlace: OriginHost] = [:]
    private var counts = [Int](repeating: 0, count: Topic.allCases.count)
    private var number = 0

    private struct Entry: Comparable, Sendable {
        /// Monotonic milliseconds.
        let due: Int64
        let number: Int
        let pending: PendingJob
        static func < (a: Self, b: Self) -> Bool { (a.due, a.number) < (b.due, b.number) }
        static func == (a: Self, b: Self) -> Bool { a.number == b.number }
    }

    /// When the next one is looked at, or an earlier time, monotonic milliseconds; nil if none waits.
    var next: Int64? { heap.first?.due }

    var count: Int { waiting.count }
    func count(_ topic: Topic) -> Int { counts[topic.ordinal] }

    /// Jobs that wait for their host alone, by host and lane.
    var heldJobs: [OriginHost: [Lane: Int]] {
        var jobs: [OriginHost: [Lane: Int]] = [:]
        for (place, host) in held {
            if let lane = waiting[place]?.job.lane { jobs[host, default: [:]][lane, default: 0] += 1 }
        }
        return jobs
    }

    /// - Parameter host: that it waits for, if for nothing else.
    mutating func add(_ pending: PendingJob, for host: OriginHost? = nil, at now: Moment) {
        number += 1
        let wait = max(0, pending.due - now.wall)
        heap.push(Entry(due: now.monotonic + wait, number: number, pending: pending))
        waiting[pending.place] = pending
        held[pending.place] = host
        counts[pending.place.topic.ordinal] += 1
    }

    mutating func popDue(at now: Moment) -> PendingJob? {
        while let first = heap.first, first.due <= now.monotonic, let entry = heap.pop() {
            // One that was removed waits for nothing any more.
            if waiting[entry.pending.place] === entry.pending { return remove(entry.pending.place) }
        }
        return nil
    }

    mutating func remove(_ place: RecordPlace) -> PendingJob? {
        guard let pending = waiting.removeValue(forKey: place) else { return nil }
        held[place] = nil
        counts[place.topic.ordinal] -= 1
        return pending
    }
}
