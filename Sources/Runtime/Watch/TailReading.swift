package import Ports
package import Records

/// Positions of reading in the topics of outcomes and state: their newest records, and all of `dead`.
///
/// Records that come faster than they are read are skipped, except dead letters, because the open ones are counted.
package struct TailReading: Sendable {
    package let topics: [Topic]
    private var bounds: [LogPoint: Range<Int64>] = [:]
    private var cursors: [LogPoint: Int64] = [:]
    /// Topic-partitions in reading order.
    private var order: [LogPoint]
    /// Partitions whose `dead` was not yet found empty or read to its end.
    private var unread: Set<PartitionID>

    package init(partitions: Int, topics: [Topic]) {
        self.topics = topics
        let numbers = (0..<Int32(partitions)).map { PartitionID($0) }
        order = topics.flatMap { topic in numbers.map { LogPoint(topic, $0, nil) } }
        unread = Set(numbers)
    }

    /// Stops reading until the bounds are known again, because the broker may be unavailable.
    package mutating func forget(_ point: LogPoint) { bounds[LogPoint(point.topic, point.partition, nil)] = nil }

    package mutating func learn(_ offsets: PartitionOffsets) {
        guard topics.contains(offsets.topic) else { return }
        let place = LogPoint(offsets.topic, offsets.partition, nil)
        // The topic was recreated and is read from its beginning.
        if let cursor = cursors[place], cursor > offsets.bounds.upperBound {
            cursors[place] = nil
            if place.topic == .dead { unread.insert(place.partition) }
        }
        bounds[place] = offsets.bounds
    }

    /// Positions to read next: changelogs of `urgent` partitions, then those whose last reading was longest ago.
    package mutating func next(_ limit: Int, records: Int, urgent: Set<PartitionID> = []) -> [LogPoint] {
        if !urgent.isEmpty {
            let isUrgent = { (place: LogPoint) in place.topic == .variants && urgent.contains(place.partition) }
            order = order.filter(isUrgent) + order.filter { !isUrgent($0) }
        }
        var found: [LogPoint] = []
        var kept: [LogPoint] = []
        for place in order {
            guard found.count < limit, let bounds = bounds[place] else {
                kept.append(place)
                continue
            }
            let newest =
                place.topic == .dead ? bounds.lowerBound : max(bounds.lowerBound, bounds.upperBound - Int64(records))
            let start = max(cursors[place] ?? newest, newest)
            guard start < bounds.upperBound else {
                kept.append(place)
                continue
            }
            found.append(LogPoint(place.topic, place.partition, start))
        }
        order = kept + found.map { LogPoint($0.topic, $0.partition, nil) }
        return found
    }

    /// Notes records that were read. Returns whether that was up to the end.
    package mutating func read(_ point: LogPoint, _ records: [Record]) -> Bool {
        let place = LogPoint(point.topic, point.partition, nil)
        let end = bounds[place]?.upperBound ?? 0
        // Compaction leaves gaps, at the end too.
        let next = records.last.map { $0.offset + 1 } ?? end
        cursors[place] = next
        let isWhole = next >= end
        if isWhole, point.topic == .dead { unread.remove(point.partition) }
        return isWhole
    }

    /// Whether the topic-partition has no records newer than those that were read.
    package func isRead(_ topic: Topic, _ partition: PartitionID) -> Bool {
        let place = LogPoint(topic, partition, nil)
        guard let bounds = bounds[place] else { return false }
        return bounds.isEmpty || cursors[place] ?? .min >= bounds.upperBound
    }

    /// Whether there is nothing left to read.
    package var isWhole: Bool {
        !bounds.isEmpty && bounds.allSatisfy { place, bounds in bounds.isEmpty || cursors[place] == bounds.upperBound }
    }

    /// Reads all of `dead` again from its beginning.
    package mutating func rereadDeadLetters() {
        for place in order where place.topic == .dead {
            cursors[place] = nil
            unread.insert(place.partition)
        }
    }

    /// Partitions that were found to have no dead letter, each reported once.
    package mutating func emptyDeadLetters() -> [PartitionID] {
        let empty = unread.filter { bounds[LogPoint(.dead, $0, nil)]?.isEmpty ?? false }
        unread.subtract(empty)
        return empty.sorted()
    }
}
