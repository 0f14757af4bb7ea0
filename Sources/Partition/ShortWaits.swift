internal import Records

/// Jobs that wait in memory for their time: few, and none for longer than ten seconds.
struct ShortWaits: Sendable {
    private var heap = Heap<Entry>()
    private var waiting: [RecordPlace: Waiter] = [:]
    private var counts = [Int](repeating: 0, count: Topic.allCases.count)
    private var number = 0

    private struct Entry: Comparable, Sendable {
        let due: Int64
        let number: Int
        let waiter: Waiter
        static func < (a: Self, b: Self) -> Bool { (a.due, a.number) < (b.due, b.number) }
        static func == (a: Self, b: Self) -> Bool { a.number == b.number }
    }

    var count: Int { waiting.count }
    func count(_ topic: Topic) -> Int { counts[topic.ordinal] }

    mutating func add(_ waiter: Waiter) {
        number += 1
        heap.push(Entry(due: waiter.due, number: number, waiter: waiter))
        waiting[waiter.place] = waiter
        counts[waiter.place.topic.ordinal] += 1
    }

    mutating func popDue(at now: Int64) -> Waiter? {
        while let first = heap.first, first.due <= now, let entry = heap.pop() {
            // One that was removed waits for nothing any more.
            if waiting[entry.waiter.place] === entry.waiter { return remove(entry.waiter.place) }
        }
        return nil
    }

    mutating func remove(_ place: RecordPlace) -> Waiter? {
        guard let waiter = waiting.removeValue(forKey: place) else { return nil }
        counts[place.topic.ordinal] -= 1
        return waiter
    }
}
