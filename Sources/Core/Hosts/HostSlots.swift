package import Canonical
package import Clocks
internal import Ledger
package import Records

/// Concurrency slots that keep each host's limit for the whole cluster. A slot allows one fetch at a time and has one
/// owner.
///
/// Each slot is assigned to a partition, and that partition's owner may use it. So no two workers use the same slot,
/// without clocks or gossip, and a slot moves with its partition. Rebalances are eager: a worker gets a partition after
/// all members have released theirs, and have ended or cancelled their fetches. The exception is a worker that was
/// stopped (SIGSTOP) for longer than its session: nobody can take back its connections.
///
/// By default the slots of a host are spread at equal distances on the ring of partitions, from an offset that the
/// host's name decides. An owner of a range of partitions therefore has slots in proportion to the range's length. The
/// partitions from one slot's default position to the next share that slot. A worker may have waiting jobs but no slot
/// of their host, because its range is short or the limit small. It then requests the slot of one of its partitions
/// (`OriginRow.partition`).
///
/// The slot's owner passes it. It stops using the slot, then writes the slot's new partition as owner of the old one.
/// Requests for fast jobs come first, then the request whose oldest job has waited longest. An owner that uses a slot
/// for slow jobs alone passes it at once to another worker's fast jobs.
///
/// All workers read the rows of `origins` in one order, so the last row counts. A worker that has just got a partition
/// uses no slot there before it has read the rows. Nobody else moves the slots of the partitions that it had. An owner
/// of all partitions need not know where slots are. It still waits for its first reading, because the rows also name
/// the blocked hosts.
///
/// A partition whose topics are unavailable may have no owner for hours, so nobody passes the slots there. Requests
/// then go to another slot.
///
/// All workers must have the same limits and the same number of partitions. During an upgrade from a program without
/// host slots, which divides limits by peer reports, a limit may be exceeded. Programs before 0.2.0 numbered slots for
/// slow jobs behind those of the limit. Nobody uses these.
package struct HostSlots: Sendable {
    package struct Slot: Sendable, Hashable {
        package let host: OriginHost
        package let number: Int

        package init(_ host: OriginHost, _ number: Int) { (self.host, self.number) = (host, number) }
    }

    /// A worker's request for the slot of this partition. It has waiting jobs and no slot of the host.
    package struct Request: Sendable, Hashable {
        package let host: OriginHost
        package let partition: PartitionID
        /// Whether a fast job waits for the slot, or a slow one that has waited too long.
        package let isUrgent: Bool
        /// Time when its oldest job began to wait, or when its worker last fetched from the host.
        package let since: Instant

        package init(_ host: OriginHost, for partition: PartitionID, isUrgent: Bool = false, since: Instant) {
            (self.host, self.partition, self.isUrgent, self.since) = (host, partition, isUrgent, since)
        }
    }

    private struct Place: Sendable {
        let partition: PartitionID
        /// When the slot came here, and when this worker last had use for it.
        let since: Instant
        var usedAt: Instant
    }

    private let partitions: Int
    private let rules: OriginRules
    private var owned: Set<PartitionID> = []
    /// Partitions that came after the last reading of the slots' positions.
    private var unknown: Set<PartitionID> = []
    package var isKnown: Bool { wasKnown && unknown.isEmpty }
    /// Whether the rows were ever read.
    private var wasKnown = false
    /// Slots that are not at their default partition, or came back to it a moment ago.
    private var away: [Slot: Place] = [:]
    /// Slots that move to another partition. This worker uses them no more.
    package private(set) var passing: [Slot: PartitionID] = [:]
    /// Time for which an owner that has use for its only slot keeps it.
    package static let turn = Duration.seconds(5)
    /// Time after which a request goes to the next slot, if no owner has passed one.
    private static let patience = turn * 4
    /// Time without use after which a slot returns to its default partition.
    private static let idle = Duration.seconds(30)

    package init(partitions: Int, _ rules: OriginRules) { (self.partitions, self.rules) = (max(1, partitions), rules) }

    package mutating func own(_ partitions: Set<PartitionID>) {
        unknown = unknown.intersection(partitions).union(partitions.subtracting(owned))
        owned = partitions
        passing = passing.filter { owns($0.key) }
        away = away.filter { owns($0.key) || defaultOwner(of: $0.key) != $0.value.partition }
    }

    /// Marks the slots' positions as known. Every row written before the last partition came has been read.
    package mutating func know() { (unknown, wasKnown) = ([], true) }

    /// Whether nothing is left to do unless a worker requests a slot.
    package var isAtDefaultOwner: Bool { away.isEmpty && passing.isEmpty }
    /// Forgets the positions, because the rows are gone.
    package mutating func forget() { (away, passing) = ([:], [:]) }

    /// Number of concurrent fetches of the host that this worker may have.
    package func count(of host: OriginHost) -> Int {
        guard wasKnown else { return 0 }
        let ceiling = rules.ceiling(of: host)
        if owned.count >= partitions || ceiling > Self.most { return ceiling }
        return owned.isEmpty ? 0 : (0..<ceiling).count { isOfUse(Slot(host, $0)) }
    }
    private static let most = 1 << 20

    /// Extra time before this worker probes a host that all workers have blocked: three seconds for each slot before
    /// its own. An owner of all partitions has no peers to wait for.
    package func turn(of host: OriginHost) -> Duration {
        guard owned.count < partitions else { return .zero }
        let turns = min(rules.ceiling(of: host), Self.turns)
        return .seconds(3) * ((0..<turns).first { owns(Slot(host, $0)) }.map { $0 + 1 } ?? turns + 1)
    }
    private static let turns = 6
    /// Workers move few slots. More than this come from an untrusted client.
    private static let awayLimit = 65_536

    /// Applies a row that says where a slot is now.
    package mutating func move(_ slot: Slot, to partition: PartitionID, at now: Instant) {
        guard isPartition(partition), exists(slot), away[slot] != nil || away.count < Self.awayLimit else { return }
        // A slot that was passed to its own default partition is kept for a turn, too.
        let isPlain = defaultOwner(of: slot) == partition && !owned.contains(partition)
        away[slot] = isPlain ? nil : Place(partition: partition, since: now, usedAt: now)
        if !owns(slot) || passing[slot] == partition { passing[slot] = nil }
    }

    /// Decides which slots to pass. A slot moves once the host's fetches here are down to the new `count`.
    ///
    /// - Parameters:
    ///   - usesUrgently: whether the worker has fast jobs at a host, or a slow one that has waited too long.
    ///   - uses: whether the worker has any jobs at a host.
    package mutating func pass(
        _ slotRequests: [Request], at now: Instant, usesUrgently: (OriginHost) -> Bool = { _ in true },
        uses: (OriginHost) -> Bool
    ) {
        var asked: [Slot: Request] = [:]
        for slotRequest in slotRequests where isPartition(slotRequest.partition) && !owned.contains(slotRequest.partition) {
            let slot = slot(for: slotRequest, at: now)
            if isOfUse(slot) { asked[slot] = min(slotRequest, asked[slot] ?? slotRequest) }
        }
        for (slot, slotRequest) in asked.sorted(by: { $0.key < $1.key }) {
            let turnBegan = max(slotRequest.since, away[slot]?.since ?? .distantPast)
            let isSpare = !uses(slot.host) || count(of: slot.host) > 1
            if isSpare || (slotRequest.isUrgent && !usesUrgently(slot.host)) || now - turnBegan >= Self.turn {
                passing[slot] = slotRequest.partition
            }
        }
        for (slot, place) in away where isOfUse(slot) {
            if uses(slot.host) || asked[slot] != nil { away[slot]?.usedAt = now }
            if place.partition == defaultOwner(of: slot) {
                if now - place.since >= Self.turn { away[slot] = nil }
            } else if now - place.usedAt >= Self.idle {
                passing[slot] = defaultOwner(of: slot)
            }
        }
    }

    /// Slots that may be passed now, from the partition that they are at, with their new partition.
    package func ready(inUse: (OriginHost) -> Int) -> [(slot: Slot, from: PartitionID, to: PartitionID)] {
        passing.sorted { $0.key < $1.key }.compactMap { slot, target in
            inUse(slot.host) <= count(of: slot.host) ? (slot, place(of: slot), target) : nil
        }
    }

    /// Whether a row that places the slot there changes nothing.
    package func isAtDefaultOwner(_ slot: Slot, at partition: PartitionID) -> Bool {
        !exists(slot) || (defaultOwner(of: slot) == partition && passing[slot] == nil)
    }

    package func checkInvariants() {
        invariant(passing.allSatisfy { owns($0.key) && place(of: $0.key) != $0.value }, "a worker passes another's slot")
        invariant(unknown.isSubset(of: owned), "a worker waits for slots of another's partition")
    }

    private func exists(_ slot: Slot) -> Bool { slot.number < rules.ceiling(of: slot.host) }
    private func isPartition(_ partition: PartitionID) -> Bool { (0..<partitions).contains(Int(partition.number)) }
    private func isOfUse(_ slot: Slot) -> Bool {
        owns(slot) && !unknown.contains(place(of: slot)) && passing[slot] == nil
    }
    private func owns(_ slot: Slot) -> Bool { owned.contains(place(of: slot)) }
    private func place(of slot: Slot) -> PartitionID { away[slot]?.partition ?? defaultOwner(of: slot) }

    /// Default partition of a slot. Slot s of c starts s/c of the ring after the host's own position, which is one of
    /// `partitions` times c.
    package func defaultOwner(of slot: Slot) -> PartitionID {
        let ceiling = rules.ceiling(of: slot.host)
        let place = start(of: slot.host, ceiling) + slot.number * partitions
        return PartitionID(Int32(place / ceiling % partitions))
    }

    /// Slot that a partition shares with its neighbours between two default positions.
    package func number(for partition: PartitionID, of host: OriginHost) -> Int {
        let ceiling = rules.ceiling(of: host)
        let place = ceiling * (Int(partition.number) + 1) - 1 - start(of: host, ceiling)
        // Rounds down, though the difference may be negative.
        return (place + partitions * ceiling) / partitions % ceiling
    }

    /// Slot that should serve a request: the partition's own, and the next one after each `patience`. The partition of
    /// a slot may have no owner.
    private func slot(for slotRequest: Request, at now: Instant) -> Slot {
        let later = Int(max(.zero, now - slotRequest.since).milliseconds / Self.patience.milliseconds)
        let own = number(for: slotRequest.partition, of: slotRequest.host)
        return Slot(slotRequest.host, (own + later) % rules.ceiling(of: slotRequest.host))
    }

    private func start(of host: OriginHost, _ count: Int) -> Int {
        var name = host.description
        return Int(UInt32(bitPattern: name.withUTF8 { Murmur2.hash($0) })) % (partitions * count)
    }
}

/// Urgent requests come first, then the oldest.
extension HostSlots.Request: Comparable {
    package static func < (a: Self, b: Self) -> Bool {
        (a.isUrgent ? 0 : 1, a.since, a.partition) < (b.isUrgent ? 0 : 1, b.since, b.partition)
    }
}

extension HostSlots.Slot: Comparable {
    package static func < (a: Self, b: Self) -> Bool {
        (a.host.description, a.number) < (b.host.description, b.number)
    }
}
