internal import Synchronization

/// A count that only grows.
package final class Counter: Sendable {
    private let count = Atomic<Int64>(0)

    init() {}

    package func increment(by amount: Int64 = 1) { count.wrappingAdd(max(0, amount), ordering: .relaxed) }

    package var value: Int64 { count.load(ordering: .relaxed) }
}

/// A value that goes up and down.
package final class Gauge: Sendable {
    private let bits = Atomic<UInt64>(0)

    init() {}

    package func record(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
    package func record(_ value: Int) { record(Double(value)) }

    package func adjust(by amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
            if exchanged { return }
            old = original
        }
    }

    package var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }
}
