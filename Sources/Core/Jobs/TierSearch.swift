package import Canonical
package import Clocks

/// Looks in tiers for jobs that may begin, behind others that may not.
///
/// A tier is read in order, and only its head is in memory. Jobs of a host that is opened may stand behind those of a host
/// that stays away, and behind jobs that wait for a time of their own: for up to an hour. What stands before them moves on
/// to the end of a tier then. A search ends where the records do that were there when it began. The next one comes after a
/// pause, longer the more moved on: among a host's jobs stand those of its URLs that fail, and each of them keeps others
/// behind it again.
package struct TierSearch: Sendable {
    /// When the last one began, and how many records have moved on since.
    private var last: (at: WallTime, moved: Int)?
    /// Open hosts that were looked for at once, and when: each that is opened begins a search.
    private var opened: [OriginHost: WallTime] = [:]
    /// Records that were written before this may move on before they are due; nil: none.
    package private(set) var before: WallTime?

    /// How often it is looked whether there is something to look for.
    package static let interval = Duration.seconds(1)
    /// A record costs the worker 26 microseconds, and the log an append.
    private static let pauseForRecord = Duration.milliseconds(10)
    private static let pauses = Duration.seconds(10)...(.minutes(5))

    package init() {}

    /// - Parameter hosts: that may be asked and have jobs in the partition's tiers, none of them the first of its tier.
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

    /// So many records have moved on.
    package mutating func note(moved count: Int) { last?.moved += count }
}
