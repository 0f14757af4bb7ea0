package import Canonical
package import Clocks

/// Search in delay topics for jobs that may start, behind others that may not.
///
/// A delay topic is read in order, and only its head is in memory. Jobs of a host that is open again may be behind jobs
/// of a blocked host, or behind jobs that wait for their own time. They would wait there for up to an hour. So the
/// records in front of them move on to the end of a delay topic.
///
/// A search ends at the last record that existed when it began. The next one comes after a pause, which is longer the
/// more records moved on. Among a host's jobs are those of its failing URLs, and each of these holds others back again.
package struct TierSearch: Sendable {
    /// Start of the last search, and the number of records that have moved on since.
    private var last: (at: WallTime, moved: Int)?
    /// Open hosts that were searched for at once, with the time. Each host that opens starts a search.
    private var opened: [OriginHost: WallTime] = [:]
    /// Records written before this time may move on before they are due; nil: none.
    package private(set) var before: WallTime?

    /// Interval between checks for hosts to search for.
    package static let interval = Duration.seconds(1)
    /// A record costs the worker 26 microseconds, and the log an append.
    private static let pauseForRecord = Duration.milliseconds(10)
    private static let pauses = Duration.seconds(10)...(.minutes(5))

    package init() {}

    /// - Parameter hosts: hosts that may be asked and have jobs in the partition's delay topics, none of them first in
    ///   its topic.
    package mutating func look(for hosts: [OriginHost], at now: WallTime, isOpen: (OriginHost) -> Bool) {
        opened = opened.filter { (.zero..<Self.pauses.upperBound).contains(now - $0.value) }
        before = nil
        guard !hosts.isEmpty else { return }
        let new = hosts.filter { opened[$0] == nil && isOpen($0) }
        for host in new { opened[host] = now }
        if !new.isEmpty || !isPausing(at: now) { last = (now, 0) }
        before = last?.at
    }

    private func isPausing(at now: WallTime) -> Bool {
        guard let last else { return false }
        let pause = Self.pauseForRecord * last.moved
        let limit = min(max(pause, Self.pauses.lowerBound), Self.pauses.upperBound)
        return (.zero..<limit).contains(now - last.at)
    }

    /// Counts records that have moved on.
    package mutating func note(moved count: Int) { last?.moved += count }
}
