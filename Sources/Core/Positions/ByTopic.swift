package import Records

/// A value for each topic, that is read and changed in its place: a dictionary's would be copied out for every question.
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
