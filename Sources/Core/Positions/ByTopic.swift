package import Records

/// One value for each topic, read and changed in place. A dictionary's value would be copied out for every access.
package struct ByTopic<Value: Sendable>: Sendable {
    @usableFromInline
    package var values: [Value]

    package init(repeating value: Value) { values = Array(repeating: value, count: Topic.allCases.count) }

    @inlinable
    package subscript(topic: Topic) -> Value {
        _read { yield values[topic.ordinal] }
        _modify { yield &values[topic.ordinal] }
    }

    package func contains(where holds: (Value) -> Bool) -> Bool { values.contains(where: holds) }
}
