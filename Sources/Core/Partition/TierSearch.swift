package import Canonical

/// Looks in tiers for jobs that may begin, behind others that may not.
///
/// A tier is read in order, and only its head is in memory. Jobs of a host that is opened may stand behind those of a host
/// that stays away, and behind jobs that wait for a time of their own: for up to an hour. What stands before them moves on
/// to the end of a tier then. A search ends where the records do that were there when it began. The next one comes after a
/// pause, longer the more moved on: among a host's jobs stand those of its URLs that fail, and each of them keeps others
/// behind it again.
package struct TierSearch: Sendable {
    /// When the last one began, milliseconds since 1970, and how many records have moved on since.
    private var last: (at: Int64, moved: Int)?
    /// Open hosts that were looked for at once, and when: each that is opened begins a search.
    private var opened: [OriginHost: Int64] = [:]
    /// Records that were written before this may move on before they are due, milliseconds since 1970; nil: none.
    package private(set) var before: Int64?

    /// How often it is looked whether there is something to look for, milliseconds.
    package static let interval: Int64 = 1_000
    /// A record costs the worker 26 microseconds, and the log an append, milliseconds.
    private static let pauseForRecord: Int64 = 10
    private static let pauses: ClosedRange<Int64> = 10_000...300_000

    package init() {}

    /// - Parameter hosts: that may be asked and have jobs in the partition's tiers, none of them the first of its tier.
    package mutating func look(for hosts: [OriginHost], at now: Int64, isOpen: (OriginHost) -> Bool) {
        opened = opened.filter { (0..<Self.pauses.upperBound).contains(now - $0.value) }
        before = nil
        guard !hosts.isEmpty else { return }
        let new = hosts.filter { opened[$0] == nil && isOpen($0) }
        for host in new { opened[host] = now }
        if !new.isEmpty || !isPausing(at: now) { last = (now, 0) }
        before = last?.at
    }

    private func isPausing(at now: Int64) -> Bool {
        guard let last else { return false }
        let pause = Int64(last.moved) * Self.pauseForRecord
        let limit = min(max(pause, Self.pauses.lowerBound), Self.pauses.upperBound)
        return (0..<limit).contains(now - last.at)
    }

    /// So many records have moved on.
    package mutating func note(moved count: Int) { last?.moved += count }
}
