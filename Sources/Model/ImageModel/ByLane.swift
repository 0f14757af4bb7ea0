/// One value for each lane.
package struct ByLane<Value> {
    private var values: [Value]

    package init(_ value: (Lane) -> Value) { values = Lane.allCases.sorted().map(value) }

    package subscript(lane: Lane) -> Value {
        _read { yield values[lane.ordinal] }
        _modify { yield &values[lane.ordinal] }
    }
}

extension ByLane: Sendable where Value: Sendable {}
extension ByLane: Equatable where Value: Equatable {}
extension ByLane: Hashable where Value: Hashable {}

extension ByLane<Int> {
    package static var none: Self { ByLane { _ in 0 } }

    package init(_ counts: [Lane: Int]) { self.init { counts[$0] ?? 0 } }

    package var sum: Int { values.reduce(0, +) }

    package static func + (a: Self, b: Self) -> Self { ByLane { a[$0] + b[$0] } }
}
