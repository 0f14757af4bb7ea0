/// What happens later, by virtual time in microseconds; at one time in the order in which it was asked for.
struct EventQueue {
    private struct Event {
        let time: Int64
        let number: Int
        let action: () -> Void
    }

    private var heap: [Event] = []
    private var count = 0

    mutating func add(at time: Int64, _ action: @escaping () -> Void) {
        count += 1
        heap.append(Event(time: time, number: count, action: action))
        var child = heap.count - 1
        while child > 0, isBefore(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func next() -> (time: Int64, action: () -> Void)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            var parent = 0
            while true {
                var least = parent
                for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(child, least) {
                    least = child
                }
                if least == parent { break }
                heap.swapAt(parent, least)
                parent = least
            }
        }
        return (first.time, first.action)
    }

    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        (heap[a].time, heap[a].number) < (heap[b].time, heap[b].number)
    }
}

/// All chance of one seed (SplitMix64).
struct Chance: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Less exact than the library's, and a third of its cost.
    mutating func within(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + Int64(next() % UInt64(range.upperBound - range.lowerBound + 1))
    }
    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }
    mutating func isOne(in count: Int) -> Bool { next() % UInt64(count) == 0 }
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
