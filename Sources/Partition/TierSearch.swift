package import Canonical

/// Looks in tiers for jobs that may begin, behind others that may not.
///
/// A tier is read in order, and only its head is in memory. Jobs of a host that is opened, or whose probe is due, may stand
/// behind those of a host that stays away, and behind jobs that wait for a time of their own: for up to an hour. What stands
/// before them moves on to the end of a tier then, each record once: what was appended since the search began stays.
package struct TierSearch: Sendable {
    /// When each host was first looked for, milliseconds since 1970.
    private var since: [OriginHost: Int64] = [:]
    /// Records that were written before this may move on before they are due, milliseconds since 1970; nil: none.
    package private(set) var before: Int64?

    /// How often it is looked whether a search is to begin, milliseconds.
    package static let interval: Int64 = 1_000

    package init() {}

    /// - Parameter hosts: that may be asked and have jobs in the partition's tiers, none of them the first of its tier.
    package mutating func look(for hosts: some Sequence<OriginHost>, at now: Int64) {
        since = Dictionary(hosts.map { ($0, since[$0] ?? now) }) { first, _ in first }
        before = since.values.max()
    }
}
