/// Partition number. Partition i of every topic belongs to one worker at a time.
package struct PartitionID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let number: Int32
    package init(_ number: Int32) { self.number = number }
    package static func < (a: Self, b: Self) -> Bool { a.number < b.number }
    package var description: String { String(number) }
}
