package import Canonical
package import Clocks
internal import Ledger
package import Records

/// A host's ceiling is the cluster's: each fetch at once is a slot of the host, and each slot has one owner.
///
/// Each slot is assigned to a partition, and that partition's owner may use it. So no two workers use it, without clocks or
/// gossip, and it goes where the partition goes. Rebalances are eager: a worker gets a partition after all members have
/// given up theirs, and have ended or cancelled their fetches. A worker that was stopped (SIGSTOP) for longer than its
/// session lives is the exception: nobody can take back its connections.
///
/// At home the slots of a host stand at equal distances on the ring of partitions, from a place that its name decides: an
/// owner of a range of partitions has as many as its range is long. Partitions from one slot's home to the next share that
/// slot. A worker with waiting jobs and no slot of their host, because its range is short or the ceiling small, requests
/// the slot of a partition (`OriginRow.partition`). The slot's owner passes it: the owner stops using the slot, and writes
/// where it stands now, as owner of the partition where it stood. Requests of fast jobs come first, then the one whose oldest
/// job has waited longest. An owner that uses a slot for slow jobs alone passes it at once to fast jobs of another worker.
/// Rows of `origins` have one order for all, so the last one holds. A worker that has just got a partition uses no slot there
/// before it has read the rows; nobody else moves the slots of the partitions that it had. An owner of all partitions need not
/// know where slots stand, but waits for its first reading: the rows say, too, which hosts are left alone.
///
/// A partition whose topics are away may have no owner for hours, and nobody passes the slots that stand there. A request goes
/// to another slot then.
///
/// All workers must have the same ceilings and as many partitions; beside programs without host slots, which divide by
/// hearsay, a ceiling may be exceeded during an upgrade. Programs before 0.2.0 kept slots for slow jobs behind the
/// ceiling's: nobody uses these.
package struct HostSlots: Sendable {
    package struct Slot: Sendable, Hashable {
        package let host: OriginHost
        package let number: Int

        package init(_ host: OriginHost, _ number: Int) { (self.host, self.number) = (host, number) }
    }

    /// A worker with waiting jobs and no slot of the host requests the slot of this partition.
    package struct Wish: Sendable, Hashable {
        package let host: OriginHost
        package let partition: PartitionID
        /// Fast jobs wait for it, or a slow one that has waited too long.
        package let isUrgent: Bool
        /// Since when its oldest job has waited, or since its worker last fetched from the host.
        package let since: Instant

        package init(_ host: OriginHost, for partition: PartitionID, isUrgent: Bool = false, since: Instant) {
            (self.host, self.partition, self.isUrgent, self.since) = (host, partition, isUrgent, since)
        }
    }

    private struct Place: Sendable {
        let partition: PartitionID
        /// When that was heard, and when the slot was last of use here.
        let since: Instant
        var usedAt: Instant
    }

    private let partitions: Int
    private let rules: OriginRules
    private var owned: Set<PartitionID> = []
    /// Partitions that came after the last reading of where slots stand.
    private var unknown: Set<PartitionID> = []
    package var isKnown: Bool { wasKnown && unknown.isEmpty }
    /// Whether the rows were ever read.
    private var wasKnown = false
    /// Slots that are not at home, or have just come there.
    private var away: [Slot: Place] = [:]
    /// Slots that are to stand elsewhere, and are of no use here any more.
    package private(set) var passing: [Slot: PartitionID] = [:]
    /// So long an owner that has use for its only slot keeps it.
    package static let turn = Duration.seconds(5)
    /// A wish that no owner answers goes to the next slot after so long.
    private static let patience = turn * 4
    /// A slot that was of no use for so long goes home.
    private static let idle = Duration.seconds(30)

    package init(partitions: Int, _ rules: OriginRules) { (self.partitions, self.rules) = (max(1, partitions), rules) }

    package mutating func own(_ partitions: Set<PartitionID>) {
        unknown = unknown.intersection(partitions).union(partitions.subtracting(owned))
        owned = partitions
        passing = passing.filter { owns($0.key) }
        away = away.filter { owns($0.key) || home(of: $0.key) != $0.value.partition }
    }

    /// All that was written of slots before the last partition came was heard.
    package mutating func know() { (unknown, wasKnown) = ([], true) }

    /// Whether there is nothing to do for want of wishes.
    package var isAtHome: Bool { away.isEmpty && passing.isEmpty }
    /// The rows are gone.
    package mutating func forget() { (away, passing) = ([:], [:]) }

    /// Fetches of the host at once that this worker may have.
    package func count(of host: OriginHost) -> Int {
        guard wasKnown else { return 0 }
        let ceiling = rules.ceiling(of: host)
        if owned.count >= partitions || ceiling > Self.most { return ceiling }
        return owned.isEmpty ? 0 : (0..<ceiling).count { isOfUse(Slot(host, $0)) }
    }
    private static let most = 1 << 20

    /// How much later than its first owner this worker asks a host again that all have left alone: three seconds for each
    /// slot before its own. Who has all partitions hears of nobody else.
    package func turn(of host: OriginHost) -> Duration {
        guard owned.count < partitions else { return .zero }
        let turns = min(rules.ceiling(of: host), Self.turns)
        return .seconds(3) * ((0..<turns).first { owns(Slot(host, $0)) }.map { $0 + 1 } ?? turns + 1)
    }
    private static let turns = 6
    /// Workers move few: more come from a stranger.
    private static let awayLimit = 65_536

    /// A row says where a slot stands now.
    package mutating func move(_ slot: Slot, to partition: PartitionID, at now: Instant) {
        guard isPartition(partition), exists(slot), away[slot] != nil || away.count < Self.awayLimit else { return }
        // Who is passed one that is at home with it has a turn, too.
        let isPlain = home(of: slot) == partition && !owned.contains(partition)
        away[slot] = isPlain ? nil : Place(partition: partition, since: now, usedAt: now)
        if !owns(slot) || passing[slot] == partition { passing[slot] = nil }
    }

    /// What is to be passed: not before fetches of the host are as few as `count` says by then.
    ///
    /// - Parameters:
    ///   - usesUrgently: whether the worker has fast jobs at a host, or a slow one that has waited too long.
    ///   - uses: whether it has any.
    package mutating func pass(
        _ wishes: [Wish], at now: Instant, usesUrgently: (OriginHost) -> Bool = { _ in true },
        uses: (OriginHost) -> Bool
    ) {
        var asked: [Slot: Wish] = [:]
        for wish in wishes where isPartition(wish.partition) && !owned.contains(wish.partition) {
            let slot = slot(for: wish, at: now)
            if isOfUse(slot) { asked[slot] = min(wish, asked[slot] ?? wish) }
        }
        for (slot, wish) in asked.sorted(by: { $0.key < $1.key }) {
            let turnBegan = max(wish.since, away[slot]?.since ?? .distantPast)
            let isSpare = !uses(slot.host) || count(of: slot.host) > 1
            if isSpare || (wish.isUrgent && !usesUrgently(slot.host)) || now - turnBegan >= Self.turn {
                passing[slot] = wish.partition
            }
        }
        for (slot, place) in away where isOfUse(slot) {
            if uses(slot.host) || asked[slot] != nil { away[slot]?.usedAt = now }
            if place.partition == home(of: slot) {
                if now - place.since >= Self.turn { away[slot] = nil }
            } else if now - place.usedAt >= Self.idle {
                passing[slot] = home(of: slot)
            }
        }
    }

    /// Slots that may be passed now, and the partitions that they are to stand at: by an owner of `from`.
    package func ready(inUse: (OriginHost) -> Int) -> [(slot: Slot, from: PartitionID, to: PartitionID)] {
        passing.sorted { $0.key < $1.key }.compactMap { slot, target in
            inUse(slot.host) <= count(of: slot.host) ? (slot, place(of: slot), target) : nil
        }
    }

    /// Whether nothing follows from a row that places the slot there.
    package func isAtHome(_ slot: Slot, at partition: PartitionID) -> Bool {
        !exists(slot) || (home(of: slot) == partition && passing[slot] == nil)
    }

    package func checkInvariants() {
        invariant(passing.allSatisfy { owns($0.key) && place(of: $0.key) != $0.value }, "a slot is passed by another's owner")
        invariant(unknown.isSubset(of: owned), "slots of a partition are waited for that is another's")
    }

    private func exists(_ slot: Slot) -> Bool { slot.number < rules.ceiling(of: slot.host) }
    private func isPartition(_ partition: PartitionID) -> Bool { (0..<partitions).contains(Int(partition.number)) }
    private func isOfUse(_ slot: Slot) -> Bool {
        owns(slot) && !unknown.contains(place(of: slot)) && passing[slot] == nil
    }
    private func owns(_ slot: Slot) -> Bool { owned.contains(place(of: slot)) }
    private func place(of slot: Slot) -> PartitionID { away[slot]?.partition ?? home(of: slot) }

    /// Slot s of c begins s/c of the ring behind the host's own place, which is one of `partitions` times c.
    package func home(of slot: Slot) -> PartitionID {
        let ceiling = rules.ceiling(of: slot.host)
        let place = start(of: slot.host, ceiling) + slot.number * partitions
        return PartitionID(Int32(place / ceiling % partitions))
    }

    /// The slot that a partition shares with those between two homes.
    package func number(for partition: PartitionID, of host: OriginHost) -> Int {
        let ceiling = rules.ceiling(of: host)
        let place = ceiling * (Int(partition.number) + 1) - 1 - start(of: host, ceiling)
        // Rounded down, though it may be negative.
        return (place + partitions * ceiling) / partitions % ceiling
    }

    /// The slot that is to answer a wish: the partition's own, and every so often the next one, since the partition where a
    /// slot stands may have no owner.
    private func slot(for wish: Wish, at now: Instant) -> Slot {
        let later = Int(max(.zero, now - wish.since).milliseconds / Self.patience.milliseconds)
        let own = number(for: wish.partition, of: wish.host)
        return Slot(wish.host, (own + later) % rules.ceiling(of: wish.host))
    }

    private func start(of host: OriginHost, _ count: Int) -> Int {
        var name = host.description
        return Int(UInt32(bitPattern: name.withUTF8 { Murmur2.hash($0) })) % (partitions * count)
    }
}

/// Urgent ones come first, and of these the oldest.
extension HostSlots.Wish: Comparable {
    package static func < (a: Self, b: Self) -> Bool {
        (a.isUrgent ? 0 : 1, a.since, a.partition) < (b.isUrgent ? 0 : 1, b.since, b.partition)
    }
}

extension HostSlots.Slot: Comparable {
    package static func < (a: Self, b: Self) -> Bool {
        (a.host.description, a.number) < (b.host.description, b.number)
    }
}
