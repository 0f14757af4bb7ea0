internal import ImageModel
internal import Ports
internal import Records

/// A changelog that is recreated: its last owner's index is in it again.
extension Ledger {
    /// What an owner's index held then, and how many files with rows were lost by then.
    struct Kept {
        let keys: [[UInt8]]
        let losses: Int
    }

    private var losses: Int { world.machines.reduce(0) { $0 + $1.disk.losses } }

    /// The topic is deleted and made again, under an owner or not.
    func recreate(_ log: TopicLog) {
        if log.newestOwner > 0 { kept[log.partition] = nil }
        let owner = world.owners(of: log.partition).first
        if let owner, let epoch = owner.consumer.epoch(of: log.partition), let index = owner.indexes[log.partition],
            world.ownerships.rank(Ownerships.Key(partition: log.partition, epoch: epoch)) == log.newestOwner
        {
            let keys = index.file.rows.flatMap { source, rows in
                rows.variants.map { RecordKey.variant(source, $0.spec).bytes }
                    + (rows.source == nil ? [] : [RecordKey.source(source).bytes])
            }
            kept[log.partition] = Kept(keys: keys, losses: losses)
        }
        _ = log.recreate()
    }

    /// All that the last owner's index held is in it again.
    func checkRestored(_ log: TopicLog) {
        guard let kept = kept.removeValue(forKey: log.partition), kept.losses == losses else { return }
        world.count(.indexPublished)
        let known = Set(log.history.map(\.record.key))
        for key in kept.keys where !known.contains(key) {
            world.fail(.published, "partition \(log.partition): \(String(decoding: key.suffix(24), as: UTF8.self))")
        }
    }
}
