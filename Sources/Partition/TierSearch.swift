package import Canonical

/// Looks in tiers for jobs that may begin, behind others that may not.
///
/// A tier is read in order, and only its head is in memory. Jobs of a host that is opened may stand behind those of a host
/// that stays away, and behind jobs that wait for a time of their own: for up to an hour. What stands before them moves on
/// to the end of a tier then: each record once in five minutes at most, however often a search begins.
package struct TierSearch: Sendable {
    /// When each host was first looked for, milliseconds since 1970.
    private var since: [OriginHost: Int64] = [:]
    /// Records that were written before this may move on before they are due, milliseconds since 1970; nil: none.
    package private(set) var before: Int64?

    /// How often it is looked whether there is something to look for, milliseconds.
    package static let interval: Int64 = 1_000
    private static let again: Int64 = 300_000

    package init() {}

    /// - Parameter hosts: that are open and have jobs in the partition's tiers, none of them the first of its tier.
    package mutating func look(for hosts: [OriginHost], at now: Int64) {
        since = since.filter { (0..<Self.again).contains(now - $0.value) }
        for host in hosts where since[host] == nil { since[host] = now }
        before = hosts.lazy.compactMap { [since] in since[$0] }.max()
    }
}
