package import Canonical
package import Clocks
package import Records

/// A host's ceiling is the cluster's: each fetch at once is a slot of the host, and each slot has one owner.
///
/// A slot stands at a partition and is that partition's owner's. So no two workers have it, without clocks and without
/// hearsay, and it goes where the partition goes. Rebalances are eager: who gets a partition gets it after all members have
/// given up theirs, and have ended or cancelled what they fetched. A worker that was stopped (SIGSTOP) for longer than its
/// session lives is the exception: nobody can take back its connections.
///
/// At home the slots of a host stand at equal distances on the ring of partitions, from a place that its name decides: an
/// owner of a range of partitions has as many as its range is long. Partitions from one slot's home to the next share that
/// slot. Where a worker has none of a host, because its range is short or the ceiling small, it says for which partition it
/// wants one (`OriginRow.partition`), and the slot's owner passes that: it stops using it, and writes where it stands now,
/// as owner of the partition where it stood. An owner that uses
/// a slot for slow jobs alone passes it at once if fast jobs of another worker want it. Rows of `origins` have one order for all, so the last one holds. A worker that
/// has just got a partition uses no slot there before it has read them; nobody else moves those of the partitions that it
/// had. Who owns all partitions need not know where slots stand, but waits for its first reading: that says, too, which hosts
/// are to be left alone.
///
/// Slow flights have a third of the ceiling, which is the cluster's, too: slots beside those of all fetches, with homes and
/// passes of their own. A slow flight needs one of each, so what is passed for slow ones' sake takes nothing from fast ones.
/// Where there are fewer slots than workers both kinds go round, and turns of one could miss those of the other. So a slow
/// slot goes to the job that has waited longest, and stays until a job has begun with it. Its owner's wish for a fetch slot
/// is dated ten seconds after that job's wait began. Numbers of slow slots begin where those of the others end: programs
/// that know of none take them for slots beyond the ceiling, and use them for nothing.
///
/// A partition whose topics are away may have no owner for hours, and nobody passes the slots that stand there. A wish for a
/// fetch waits for another slot then. So does a slow one; and once nobody was heard to pass a slow slot of the host, or to
/// use one, for longer than an owner that lives may be silent, the worker with the oldest wish borrows one for 20 seconds.
///
/// All workers must have the same ceilings and as many partitions; with programs of before, which divide by hearsay, a
/// ceiling may be exceeded during an upgrade. Those that know of no slow slots pass none: what wants one waits for the
/// upgrade's end, where the slot stands with them.
package struct HostSlots: Sendable {
    package struct Slot: Sendable, Hashable {
        package let host: OriginHost
        package let number: Int

        package init(_ host: OriginHost, _ number: Int) { (self.host, self.number) = (host, number) }
    }

    /// Somebody without a slot of the host wants the one of this partition.
    package struct Wish: Sendable, Hashable {
        package let host: OriginHost
        package let partition: PartitionID
        /// A slow one.
        package let isSlow: Bool
        /// Fast jobs wait for it.
        package let isUrgent: Bool
        /// When it was first heard, or since when the slow job has waited.
        package let since: Instant

        package init(
            _ host: OriginHost, for partition: PartitionID, isSlow: Bool = false, isUrgent: Bool = false, since: Instant
        ) {
            (self.host, self.partition, self.isSlow, self.isUrgent) = (host, partition, isSlow, isUrgent)
            self.since = since
        }
    }

    /// What a worker lacks of a host.
    package struct Want: Sendable, Hashable {
        /// The partitions for which it wants a slot for fetches, and a slow one.
        package var fetch: PartitionID?
        package var slow: PartitionID?
        /// Since when a slow job of its waits for one of the two.
        package var slowSince: Instant?

        package init(fetch: PartitionID? = nil, slow: PartitionID? = nil, slowSince: Instant? = nil) {
            (self.fetch, self.slow, self.slowSince) = (fetch, slow, slowSince)
        }
    }

    private struct Place: Sendable {
        let partition: PartitionID
        /// When that was heard, and when the slot was last of use here.
        let since: Instant
        var usedAt: Instant
        /// Of a slow one: when the first flight began with it.
        var begunAt: Instant?
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
    /// Hosts of which this worker has no slow slot, and wants one: since when nobody was heard to pass or to use one.
    private var silent: [OriginHost: Instant] = [:]
    /// Hosts of which it uses a slow slot that stands at a partition without an owner: until when.
    private var borrowed: [OriginHost: Instant] = [:]

    /// So long an owner that has use for its only slot keeps it.
    package static let turn = Duration.seconds(5)
    /// A slow one, for which it may lack one for fetches, is kept so long until a flight begins with it.
    private static let slowPatience = turn * 4
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
        (silent, borrowed) = ([:], [:])
    }

    /// All that was written of slots before the last partition came was heard.
    package mutating func know() { (unknown, wasKnown) = ([], true) }

    /// Whether there is nothing to do for want of wishes.
    package var isAtHome: Bool { away.isEmpty && passing.isEmpty }
    var isBorrowing: Bool { !borrowed.isEmpty }
    package func borrows(_ host: OriginHost) -> Bool { borrowed[host] != nil }

    /// The rows are gone.
    package mutating func forget() { (away, passing) = ([:], [:]) }

    /// Fetches of the host at once that this worker may have, or those of slow flights among them.
    package func count(of host: OriginHost, isSlow: Bool = false) -> Int {
        guard wasKnown else { return 0 }
        if owned.count >= partitions || rules.ceiling(of: host) > Self.most {
            return isSlow ? rules.slowCeiling(of: host) : rules.ceiling(of: host)
        }
        guard !owned.isEmpty else { return 0 }
        let count = numbers(of: host, isSlow: isSlow).count { isOfUse(Slot(host, $0)) }
        return count == 0 && isSlow && borrows(host) ? 1 : count
    }
    private static let most = 1 << 20

    /// Of a ceiling of one, whose third is one, the slot is for both.
    private func numbers(of host: OriginHost, isSlow: Bool) -> Range<Int> {
        let ceiling = rules.ceiling(of: host)
        return isSlow && ceiling > 1 ? ceiling..<ceiling + rules.slowCeiling(of: host) : 0..<ceiling
    }

    private func isSlow(_ slot: Slot) -> Bool { slot.number >= rules.ceiling(of: slot.host) }

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
        guard isPartition(partition), away[slot] != nil || away.count < Self.awayLimit else { return }
        // Who is passed one that is at home with it has a turn, too.
        let isPlain = home(of: slot) == partition && !owned.contains(partition)
        away[slot] = isPlain ? nil : Place(partition: partition, since: now, usedAt: now)
        if !owns(slot) || passing[slot] == partition { passing[slot] = nil }
        if isSlow(slot) { hearSlow(slot.host, at: now) }
    }

    /// Somebody has passed a slow slot of the host, or uses one.
    package mutating func hearSlow(_ host: OriginHost, at now: Instant) {
        if silent[host] != nil { silent[host] = now }
        borrowed[host] = nil
    }

    /// What is written cannot be read now: nobody would be heard.
    package mutating func unheard(at now: Instant) { silent = silent.mapValues { _ in now } }

    /// - Parameters:
    ///   - wants: this worker's wishes for slow slots, of hosts of which it has none.
    ///   - wishes: those of others.
    /// - Returns: whether anything is borrowed, or given back.
    package mutating func borrow(_ wants: [OriginHost: Wish], _ wishes: [Wish], at now: Instant) -> Bool {
        let before = borrowed.count
        borrowed = borrowed.filter { $0.value > now }
        silent = Dictionary(uniqueKeysWithValues: wants.keys.map { ($0, silent[$0] ?? now) })
        var changes = borrowed.count != before
        for (host, want) in wants {
            // Each of its slots is asked for in turn, and its owner may keep one for as long.
            let limit = Self.patience * numbers(of: host, isSlow: true).count + Self.turn
            let silence = now - (silent[host] ?? now)
            guard silence >= limit else { continue }
            // Who waited for as long, so far as can be known, comes in the order of partitions.
            let others = wishes.count {
                $0.isSlow && $0.host == host
                    && (($0.since - want.since).magnitude < Self.hearsay
                        ? $0.partition < want.partition : $0.since < want.since)
            }
            guard silence >= limit + Self.hearsay * others else { continue }
            borrowed[host] = now + Self.patience
            changes = true
        }
        return changes
    }
    /// So long after somebody did it all others have heard of it.
    private static let hearsay = Duration.seconds(3)

    /// What is to be passed: not before fetches of the host are as few as `count` says by then.
    ///
    /// - Parameters:
    ///   - slowBegan: when this worker last began a slow fetch of a host.
    ///   - usesFast: whether fast ones are among this worker's fetches of a host, or its jobs that wait for one.
    ///   - uses: whether it has any of these, or slow ones (true).
    package mutating func pass(
        _ wishes: [Wish], at now: Instant, slowBegan: (OriginHost) -> Instant = { _ in .distantPast },
        usesFast: (OriginHost) -> Bool = { _ in true }, uses: (OriginHost, _ isSlow: Bool) -> Bool
    ) {
        for (slot, place) in away where place.begunAt == nil && owned.contains(place.partition) && isSlow(slot) {
            let began = slowBegan(slot.host)
            if began >= place.since { away[slot]?.begunAt = began }
        }
        var asked: [Slot: [Wish]] = [:]
        for wish in wishes where isPartition(wish.partition) && !owned.contains(wish.partition) {
            let slot = slot(for: wish, at: now)
            if isOfUse(slot) { asked[slot, default: []].append(wish) }
        }
        for (slot, wishes) in asked.sorted(by: { $0.key < $1.key }) {
            let isSlow = isSlow(slot)
            let since = max(wishes.map(\.since).min() ?? now, turnBegan(slot, isSlow))
            if !uses(slot.host, isSlow) || count(of: slot.host, isSlow: isSlow) > 1 || now - since >= Self.turn {
                passing[slot] = wishes.min()?.partition
            } else if !isSlow, !usesFast(slot.host), let urgent = wishes.filter(\.isUrgent).min() {
                // Fast jobs of another worker do not wait for a turn of slow ones.
                passing[slot] = urgent.partition
            }
        }
        for (slot, place) in away where isOfUse(slot) {
            if uses(slot.host, isSlow(slot)) || asked[slot] != nil { away[slot]?.usedAt = now }
            if place.partition == home(of: slot) {
                if now - place.since >= (isSlow(slot) ? Self.slowPatience : Self.turn) { away[slot] = nil }
            } else if now - place.usedAt >= Self.idle {
                passing[slot] = home(of: slot)
            }
        }
    }

    /// Slots that may be passed now, and the partitions that they are to stand at: by an owner of `from`.
    package func ready(
        inUse: (OriginHost, _ isSlow: Bool) -> Int
    ) -> [(slot: Slot, from: PartitionID, to: PartitionID)] {
        passing.sorted { $0.key < $1.key }.compactMap { slot, target in
            let isSlow = isSlow(slot)
            let isFree = inUse(slot.host, isSlow) <= count(of: slot.host, isSlow: isSlow)
            return isFree ? (slot, place(of: slot), target) : nil
        }
    }

    /// A turn of a slow slot begins with the first flight that it lets begin; that of one for fetches begins again where a
    /// slow one came, which is of no use without it.
    private func turnBegan(_ slot: Slot, _ isSlow: Bool) -> Instant {
        guard isSlow else { return max(away[slot]?.since ?? .distantPast, slowCame(slot.host)) }
        guard let place = away[slot] else { return .distantPast }
        return place.begunAt ?? place.since + Self.slowPatience - Self.turn
    }

    private func slowCame(_ host: OriginHost) -> Instant {
        numbers(of: host, isSlow: true).lazy.map { Slot(host, $0) }
            .compactMap { owns($0) ? away[$0]?.since : nil }.max() ?? .distantPast
    }

    private func isPartition(_ partition: PartitionID) -> Bool { (0..<partitions).contains(Int(partition.number)) }
    private func isOfUse(_ slot: Slot) -> Bool {
        owns(slot) && !unknown.contains(place(of: slot)) && passing[slot] == nil
    }
    private func owns(_ slot: Slot) -> Bool { owned.contains(place(of: slot)) }
    private func place(of slot: Slot) -> PartitionID { away[slot]?.partition ?? home(of: slot) }

    /// Slot s of c begins s/c of the ring behind the host's own place, which is one of `partitions` times c.
    package func home(of slot: Slot) -> PartitionID {
        let numbers = numbers(of: slot.host, isSlow: isSlow(slot))
        let place = start(of: slot.host, numbers.count) + (slot.number - numbers.lowerBound) * partitions
        return PartitionID(Int32(place / numbers.count % partitions))
    }

    /// The slot that a partition shares with those between two homes.
    package func number(for partition: PartitionID, of host: OriginHost, isSlow: Bool = false) -> Int {
        let numbers = numbers(of: host, isSlow: isSlow)
        let place = numbers.count * (Int(partition.number) + 1) - 1 - start(of: host, numbers.count)
        // Rounded down, though it may be negative.
        return numbers.lowerBound + (place + partitions * numbers.count) / partitions % numbers.count
    }

    /// The slot that is to answer a wish: the partition's own, and every so often the next one, since the partition where a
    /// slot stands may have no owner.
    private func slot(for wish: Wish, at now: Instant) -> Slot {
        let numbers = numbers(of: wish.host, isSlow: wish.isSlow)
        let own = number(for: wish.partition, of: wish.host, isSlow: wish.isSlow) - numbers.lowerBound
        let later = Int(max(.zero, now - wish.since).milliseconds / Self.patience.milliseconds)
        return Slot(wish.host, numbers.lowerBound + (own + later) % numbers.count)
    }

    private func start(of host: OriginHost, _ count: Int) -> Int {
        var name = host.description
        return Int(UInt32(bitPattern: name.withUTF8 { Murmur2.hash($0) })) % (partitions * count)
    }
}

/// The oldest comes first.
extension HostSlots.Wish: Comparable {
    package static func < (a: Self, b: Self) -> Bool {
        (a.since, a.partition) < (b.since, b.partition)
    }
}

extension HostSlots.Slot: Comparable {
    package static func < (a: Self, b: Self) -> Bool {
        (a.host.description, a.number) < (b.host.description, b.number)
    }
}
