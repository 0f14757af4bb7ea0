internal import Canonical
internal import ImageModel
internal import Ports
internal import Records
internal import VariantSpec

/// Committable offsets on their way to the group.
extension SimulatedConsumer {
    func commit(_ topic: Topic, _ partition: PartitionID, below offset: Int64) {
        guard !process.isDead, epochs[partition] != nil else { return }
        let log = world.cluster.log(topic, partition)
        pending[log.place] = world.plants(.commitEarly) && world.chance.isOne(in: 10) ? offset + 1 : offset
        guard !isCommitDue else { return }
        isCommitDue = true
        world.after(world.chance.within(50_000...300_000)) { [self] in
            tell {
                self.isCommitDue = false
                self.commitPending()
            }
        }
    }

    /// One commit at a time; what comes meanwhile goes with the next, and once partitions go, with the last.
    func commitPending() {
        if commitsUnderWay.isEmpty, case .owning = phase { commitNow() }
    }

    func commitLast(within limit: Int64, _ body: @escaping () -> Void) {
        whenCommitted = body
        commitNow()
        let number = decision
        world.after(commitsUnderWay.isEmpty ? world.chance.within(100...5_000) : limit) { [self] in
            tell { if number == self.decision { self.endCommits() } }
        }
    }

    /// What it finished may be done again: something went wrong in this generation.
    func hinder() { world.ownerships.hinder(ownerships) }

    func endCommits() {
        guard let body = whenCommitted else { return }
        if !commitsUnderWay.isEmpty { hinder() }
        whenCommitted = nil
        body()
    }

    func commitNow() {
        guard !pending.isEmpty else { return }
        world.note("commit", Int64(process.number), Int64(pending.count))
        let offsets = pending.sorted { $0.key < $1.key }
        pending = [:]
        commits += 1
        commitsUnderWay.insert(commits)
        let (generation, number) = (generation, commits)
        world.after(world.cluster.latency) { [self] in
            let isTaken = world.group.commit(offsets.map { ($0.key, $0.value) }, by: process, generation)
            world.after(world.cluster.latency) {
                self.tell {
                    guard self.commitsUnderWay.remove(number) != nil else { return }
                    if !isTaken { self.hinder() }
                    for (place, offset) in offsets where self.readers[place] != nil {
                        if isTaken { self.known[place] = offset }
                        // What failed goes with the next.
                        if !isTaken, self.pending[place] == nil { self.pending[place] = offset }
                    }
                    if self.commitsUnderWay.isEmpty { self.endCommits() }
                    self.commitPending()
                }
            }
        }
    }

    func committed(_ topic: Topic, _ partition: PartitionID) -> Int64? {
        known[world.cluster.log(topic, partition).place]
    }

    func restart(_ topic: Topic, _ partition: PartitionID, at offset: Int64) throws(LogFailure) {
        try rewind(topic, partition, to: offset)
        world.count(.restarted)
        known[world.cluster.log(topic, partition).place] = nil
        commit(topic, partition, below: offset)
    }
}
