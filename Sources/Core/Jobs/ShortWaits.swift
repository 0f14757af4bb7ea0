internal import Canonical
internal import Clocks
internal import ImageModel
internal import Ledger
internal import Records

/// Jobs that wait in memory until they are due: few, and none for longer than ten seconds.
struct ShortWaits: Sendable {
    private var heap = Heap<Entry>()
    private var waiting: [RecordPlace: PendingJob] = [:]
    /// Waiting jobs that wait for their host alone.
    private var held: [RecordPlace: OriginHost] = [:]
    private var counts = [Int](repeating: 0, count: Topic.allCases.count)
    private var number = 0
    /// Jobs that were deferred in memory, until they are completed. Their records do not contain their number of
    /// attempts.
    private var tried: [RecordPlace: PendingJob] = [:]
    /// Waits that an earlier owner left, until their records come.
    private var inherited: [RecordPlace: TopicProgress.Wait] = [:]

    private struct Entry: Comparable, Sendable {
        let due: Instant
        let number: Int
        let pending: PendingJob
        static func < (a: Self, b: Self) -> Bool { (a.due, a.number) < (b.due, b.number) }
        static func == (a: Self, b: Self) -> Bool { a.number == b.number }
    }

    /// Time of the next examination, or an earlier one; nil if no job waits.
    var next: Instant? { heap.first?.due }

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

    /// - Parameter host: the host that it waits for, if it waits for nothing else.
    mutating func add(_ pending: PendingJob, for host: OriginHost? = nil, at now: Moment) {
        number += 1
        let wait = max(.zero, pending.due - now.wall)
        heap.push(Entry(due: now.monotonic + wait, number: number, pending: pending))
        waiting[pending.place] = pending
        held[pending.place] = host
        counts[pending.place.topic.ordinal] += 1
    }

    mutating func popDue(at now: Moment) -> PendingJob? {
        while let first = heap.first, first.due <= now.monotonic, let entry = heap.pop() {
            // A job that was removed does not wait any more.
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

    /// Starts reading a topic with the waits that an earlier owner left.
    mutating func begin(_ topic: Topic, _ waits: [TopicProgress.Wait], incarnation: Int32) {
        inherited = inherited.filter { $0.key.topic != topic }
        for wait in waits { inherited[RecordPlace(topic, wait.offset, incarnation: incarnation)] = wait }
    }

    /// Takes the wait that an earlier owner left for the job whose record comes now.
    mutating func takeInherited(_ place: RecordPlace) -> TopicProgress.Wait? {
        inherited.isEmpty ? nil : inherited.removeValue(forKey: place)
    }

    /// Whether another job may be deferred in memory, or this one was before.
    func hasRoom(for place: RecordPlace, limit: Int) -> Bool { tried.count < limit || tried[place] != nil }

    /// Notes that the job was deferred in memory, so that the partition's progress row lists its number of attempts.
    mutating func remember(_ pending: PendingJob) { tried[pending.place] = pending }

    /// Forgets jobs that are completed.
    mutating func forget(_ places: [RecordPlace]) {
        for place in places where !tried.isEmpty || !inherited.isEmpty {
            (tried[place], inherited[place]) = (nil, nil)
        }
    }

    /// Waits that the records of jobs do not contain, by offset. Those of an earlier owner start at `next`.
    func progress(_ topic: Topic, incarnation: Int32, from next: Int64) -> [TopicProgress.Wait] {
        if tried.isEmpty, inherited.isEmpty { return [] }
        let own = tried.lazy.filter { $0.key.topic == topic && $0.key.incarnation == incarnation }.map {
            TopicProgress.Wait(
                offset: $0.key.offset, attempts: $0.value.attempts, notBefore: $0.value.notBefore,
                heldSince: $0.value.heldSince, failingSince: $0.value.failingSince, code: $0.value.lastCode)
        }
        let left = inherited.lazy.filter { $0.key.topic == topic && $0.key.offset >= next }.map(\.value)
        return (Array(own) + left).sorted { $0.offset < $1.offset }
    }
}
