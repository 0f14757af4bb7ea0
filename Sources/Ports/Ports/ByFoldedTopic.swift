package import Records

/// A value for each topic that the owner of a partition applies to its index.
package struct ByFoldedTopic<Value> {
    package var variants: Value
    package var parked: Value

    package init(variants: Value, parked: Value) { (self.variants, self.parked) = (variants, parked) }

    /// Builds the value of each topic.
    package init(_ value: (Topic) throws -> Value) rethrows {
        self.init(variants: try value(.variants), parked: try value(.parked))
    }

    /// Value of a folded topic. Other topics have none.
    package subscript(topic: Topic) -> Value {
        get { topic == .parked ? parked : variants }
        set { if topic == .parked { parked = newValue } else { variants = newValue } }
    }
}

extension ByFoldedTopic: Sendable where Value: Sendable {}
extension ByFoldedTopic: Equatable where Value: Equatable {}
extension ByFoldedTopic: Hashable where Value: Hashable {}

extension ByFoldedTopic<Range<Int64>> {
    /// The first offset of each range.
    package var starts: ByFoldedTopic<Int64> {
        ByFoldedTopic<Int64>(variants: variants.lowerBound, parked: parked.lowerBound)
    }

    /// Offsets that lie within the ranges, or at their ends.
    package func clamp(_ offsets: ByFoldedTopic<Int64>) -> ByFoldedTopic<Int64> {
        ByFoldedTopic<Int64> { min(max(offsets[$0], self[$0].lowerBound), self[$0].upperBound) }
    }
}
