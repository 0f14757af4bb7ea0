package import Canonical

/// Looks in tiers for jobs that may begin, behind others that may not.
///
/// A tier is read in order, and only its head is in memory. Jobs of a host that is opened may stand behind those of a host
/// that stays away, and behind jobs that wait for a time of their own: for up to an hour. What stands before them moves on
/// to the end of a tier then. A host is looked for again after a pause, longer the more moved on: among its jobs stand those
/// of its URLs that fail, and each of them keeps others behind it again.
package struct TierSearch: Sendable {
    private struct Begun: Sendable {
        /// Milliseconds since 1970.
        let at: Int64
        /// Records that had moved on by then.
        let moved: Int
    }

    /// When each host was last looked for.
    private var begun: [OriginHost: Begun] = [:]
    private var moved = 0
    /// Records that were written before this may move on before they are due, milliseconds since 1970; nil: none.
    package private(set) var before: Int64?

    /// How often it is looked whether there is something to look for, milliseconds.
    package static let interval: Int64 = 1_000
    /// A hundred records a second move on in the end: a record costs the worker 26 microseconds, and the log an append.
    private static let pauseForRecord: Int64 = 10
    private static let pauses: ClosedRange<Int64> = 10_000...300_000

    package init() {}

    /// - Parameter hosts: that may be asked and have jobs in the partition's tiers, none of them the first of its tier.
    package mutating func look(for hosts: [OriginHost], at now: Int64) {
        begun = begun.filter { [moved] in
            let pause = Int64(moved - $0.value.moved) * Self.pauseForRecord
            return (0..<min(max(pause, Self.pauses.lowerBound), Self.pauses.upperBound)).contains(now - $0.value.at)
        }
        for host in hosts where begun[host] == nil { begun[host] = Begun(at: now, moved: moved) }
        before = hosts.lazy.compactMap { [begun] in begun[$0]?.at }.max()
    }

    /// So many records have moved on since.
    package mutating func note(moved count: Int) { moved += count }
}
