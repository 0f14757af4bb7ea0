internal import Ports

/// The coordinator of the group: who is a member, who owns what, which offsets are committed.
///
/// Rebalances are eager: all give up everything, then all is given out again in a new generation.
final class Group {
    unowned(unsafe) let world: World
    private(set) var generation = 0
    /// By place: what is committed.
    var committed: [Int: Int64] = [:]
    /// Members of the generation, in the order of joining.
    private var members: [SimulatedProcess] = []
    /// Of those that gave everything up.
    private var ready: [SimulatedProcess] = []
    private var joining: Set<Int> = []
    private var isRebalancing = false
    private var round = 0
    /// Where the group's offsets were set by a person, or forgotten.
    var isEmpty: Bool { members.isEmpty && ready.isEmpty }

    private static let session: Int64 = 6_000_000

    init(_ world: World) { self.world = world }

    /// For people.
    var summary: String {
        let members = members + ready
        return members.map { "worker \($0.number): \($0.consumer.phase)" }.joined(separator: ", ")
    }

    func isMember(_ process: SimulatedProcess) -> Bool {
        members.contains { $0 === process } || ready.contains { $0 === process }
    }

    /// Whether it has partitions of this generation, which is the last.
    func owns(_ process: SimulatedProcess, _ generation: Int) -> Bool {
        generation == self.generation && members.contains { $0 === process }
    }

    func join(_ process: SimulatedProcess) {
        guard joining.insert(process.number).inserted else { return }
        world.after(world.chance.within(1_000...50_000)) { [self] in
            joining.remove(process.number)
            guard !process.isDead, !process.hasEnded else { return }
            members.removeAll { $0 === process }
            if !ready.contains(where: { $0 === process }) { ready.append(process) }
            rebalance()
        }
    }

    func leave(_ process: SimulatedProcess) { remove(process) }

    /// Nobody heard of the process for as long as a session lives.
    func expire(_ process: SimulatedProcess) {
        world.after(Self.session) { [self] in
            guard process.isDead || process.isPaused, isMember(process) else { return }
            world.count(.sessionExpired)
            remove(process)
        }
    }

    private func remove(_ process: SimulatedProcess) {
        members.removeAll { $0 === process }
        ready.removeAll { $0 === process }
        rebalance()
    }

    /// Begins to give out the partitions again, if that is not under way.
    func rebalance() {
        guard !isRebalancing else { return tryToEnd() }
        isRebalancing = true
        round += 1
        world.count(.rebalance)
        let number = round
        for process in members {
            world.after(world.chance.within(1_000...400_000)) { [self] in
                process.consumer.tell {
                    // Who slept through the round has its share of the next generation, or none.
                    if number == self.round { process.consumer.revoke() }
                }
            }
        }
        world.after(Self.session) { [self] in if number == round, isRebalancing { end() } }
        tryToEnd()
    }

    /// The process has given everything up, and waits for its new share.
    func ready(_ process: SimulatedProcess) {
        guard members.contains(where: { $0 === process }) else { return }
        members.removeAll { $0 === process }
        ready.append(process)
        tryToEnd()
    }

    private func tryToEnd() {
        guard isRebalancing, members.isEmpty else { return }
        let number = round
        world.after(world.chance.within(1_000...100_000)) { [self] in
            if number == round, isRebalancing, members.isEmpty { end() }
        }
    }

    private func end() {
        isRebalancing = false
        round += 1
        // Who did not answer is out, and learns of it later.
        for process in members { process.consumer.tell { process.consumer.lose() } }
        (members, ready) = (ready, [])
        generation += 1
        var partitions = Cluster.partitions
        partitions.shuffle(using: &world.chance)
        for (index, process) in members.enumerated() {
            var share = partitions.enumerated().filter { $0.offset % members.count == index }.map(\.element).sorted()
            // The second is the next member's, where there is one.
            if world.plants(.twoOwners), index == 0 { share = Set(share + partitions[1...1]).sorted() }
            let number = generation
            world.after(world.chance.within(1_000...20_000)) { [share] in
                process.consumer.tell { process.consumer.assign(share, generation: number) }
            }
        }
    }

    /// False where the process is no member of the generation any more.
    func commit(_ offsets: [(place: Int, offset: Int64)], by process: SimulatedProcess, _ generation: Int) -> Bool {
        guard !process.isDead || world.chance.isOne(in: 2) else { return false }
        guard generation == self.generation, members.contains(where: { $0 === process }) || process.isDead else {
            world.count(.commitRefused)
            return false
        }
        if world.cluster.cutUntil > world.now, world.chance.isOne(in: 2) {
            world.count(.commitLost)
            return false
        }
        for (place, offset) in offsets {
            world.note("committed", Int64(process.number), Int64(place), offset)
            world.ledger.check(committed: offset, of: world.cluster.logs[place])
            committed[place] = offset
        }
        return true
    }
}
