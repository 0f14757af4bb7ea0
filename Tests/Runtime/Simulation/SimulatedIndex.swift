internal import Canonical
internal import Clocks
internal import Digest
internal import ImageModel
internal import MemoryIndex
internal import Ports
internal import Records
internal import VariantSpec

/// A machine's disk: what each partition's index had when it was last written.
final class SimulatedDisk {
    struct File {
        var rows: [SourceKey: SourceSnapshot] = [:]
        var checkpoint: IndexCheckpoint?
        var progress: ProgressRow?
        var parked = ParkedRows()
        /// It came from another cluster.
        var isForeign = false
    }

    /// Those of changelogs before, by when they were put aside.
    private(set) var aside: [PartitionID: [File]] = [:]
    /// Files with rows that were lost.
    private(set) var losses = 0
    var files: [PartitionID: File] = [:]
    /// What stood in a file some while before: a machine that loses its power may come up with it.
    private(set) var older: [PartitionID: File] = [:]
    private var writes = 0

    func write(_ file: File, of partition: PartitionID) {
        writes += 1
        if writes % 16 == 0 { older[partition] = files[partition] }
        files[partition] = file
    }

    /// It comes up with what it had some while before.
    func goBack() {
        files = older
        losses += 1
    }

    func lose() {
        (files, aside) = ([:], [:])
        losses += 1
    }

    func moveAway(_ partition: PartitionID) {
        if let file = files[partition] { aside[partition, default: []].append(file) }
        (files[partition], older[partition]) = (nil, nil)
    }

    /// Their rows were published.
    func retire(_ partition: PartitionID) { (files[partition], aside[partition]) = (nil, nil) }

    /// The files of another cluster: of half of the partitions its changelogs were longer. It had other rows, had owners in
    /// later epochs, and had come further.
    func swap() {
        losses += 1
        for (partition, file) in files {
            guard let known = file.checkpoint else { continue }
            let fingerprints = known.fingerprints.map { fingerprints in
                ChangelogFingerprints(
                    fingerprints.newestFirst.map {
                        RecordFingerprint(offset: $0.offset, timestamp: $0.timestamp + .milliseconds(1))
                    }
                )
            }
            files[partition]?.isForeign = true
            files[partition]?.rows = [:]
            files[partition]?.parked = ParkedRows()
            files[partition]?.checkpoint = IndexCheckpoint(
                position: known.position + (partition.number % 2 == 0 ? 100_000 : 0), epoch: known.epoch + 1_000,
                isOpened: known.isOpened, at: known.at, fingerprints: fingerprints)
            for topic in file.progress?.topics.keys.map(\.self) ?? [] {
                files[partition]?.progress?.topics[topic]?.next += 50
                files[partition]?.progress?.topics[topic]?.fingerprint = nil
            }
        }
    }

    func wipe(_ partition: PartitionID) {
        if files[partition]?.rows.isEmpty == false { losses += 1 }
        (files[partition], older[partition]) = (nil, nil)
    }
}

/// The index port of one process.
struct SimulatedIndexes: VariantIndexes {
    private let process: SimulatedProcess
    init(_ process: SimulatedProcess) { self.process = process }

    func open(_ partition: PartitionID) throws(IndexFailure) -> (index: any VariantIndex, rebuilt: String?) {
        (SimulatedIndex(partition, process), nil)
    }
}

/// The index of one partition; each change of it is one transaction.
final class SimulatedIndex: VariantIndex {
    unowned(unsafe) let process: SimulatedProcess
    let partition: PartitionID
    var file: SimulatedDisk.File

    init(_ partition: PartitionID, _ process: SimulatedProcess) {
        (self.partition, self.process) = (partition, process)
        file = process.machine.disk.files[partition] ?? SimulatedDisk.File()
        process.indexes[partition] = self
    }

    var checkpoint: IndexCheckpoint? { file.checkpoint }
    var progress: ProgressRow? {
        guard process.world.plant != nil, var row = file.progress else { return file.progress }
        if process.world.plants(.stalePosition) {
            if let older = process.machine.disk.older[partition]?.progress { row.topics = older.topics }
            // The group's offset makes up for all but what was finished ahead of it.
            for topic in Topic.consumed { row.topics[topic]?.finished = [] }
        }
        if process.world.plants(.passUnparked) {
            row.answers?[.outcomes] = process.world.cluster.log(.outcomes, partition).end
        }
        if process.world.plants(.trustNoMarker) { row.quarantined = [] }
        if process.world.plants(.forgetPause) { row.pauses = [] }
        return row
    }

    func isEmpty() throws(IndexFailure) -> Bool {
        try check()
        return file.rows.isEmpty
    }

    func snapshot(of source: SourceKey) throws(IndexFailure) -> SourceSnapshot {
        try check()
        return file.rows[source] ?? SourceSnapshot()
    }

    func apply(
        _ changes: [IndexChange], progress: ProgressRow?, upTo position: Int64, epoch: Int64, isOpened: Bool,
        fingerprints: ChangelogFingerprints?
    ) throws(IndexFailure) {
        if process.isDead { return }
        try check()
        for change in changes {
            if process.world.plants(.loseRow), process.world.chance.isOne(in: 30) { continue }
            file.rows.apply(change)
        }
        if let progress { file.progress = progress }
        file.checkpoint = IndexCheckpoint(
            position: position, epoch: max(epoch, 0), isOpened: isOpened,
            at: process.machine.wall(at: process.world.now), fingerprints: fingerprints)
        process.machine.disk.write(file, of: partition)
    }

    func check() throws(IndexFailure) {
        let world = process.world
        guard world.indexFailsUntil > world.now, !process.isDead, world.chance.isOne(in: 6) else { return }
        if world.chance.isOne(in: 3) {
            world.count(.indexDamaged)
            process.machine.disk.wipe(partition)
            process.world.note("damaged", Int64(process.number), Int64(partition.number))
            throw .corrupt(path: "simulated", reason: "a page is damaged")
        }
        world.count(.indexAway)
        throw .unavailable(path: "simulated", reason: "input/output error")
    }

    func wipe() throws(IndexFailure) {
        if process.isDead { return }
        process.world.count(.indexWiped)
        process.world.note("wiped", Int64(process.number), Int64(partition.number))
        file = SimulatedDisk.File()
        process.machine.disk.wipe(partition)
    }

    func moveAway() throws(IndexFailure) {
        if process.isDead { return }
        if file.rows.isEmpty { return try wipe() }
        process.world.count(.indexSetAside)
        process.machine.disk.moveAway(partition)
    }

    func close() {}
}
