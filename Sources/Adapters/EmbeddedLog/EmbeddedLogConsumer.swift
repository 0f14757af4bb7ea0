internal import Clocks
package import Ports
internal import Posix
package import Records
internal import SQLite
internal import Synchronization

/// The owner's side of the embedded log: all partitions at once, by one worker on the machine.
///
/// Nothing is revoked or lost here: the log is held until `stop`, or until the process dies. Records of compacted topics
/// that a newer one replaced are deleted with its append; what committed offsets have passed is deleted with later commits.
///
/// - Concurrency: an actor on the thread that polls; what the port wants on the executor asserts that it is there.
package actor EmbeddedLogConsumer: LogConsumer {
    private nonisolated let log: EmbeddedLog
    private nonisolated let thread = PollThread("log poll")
    /// What commits of this process have touched since the last turn.
    private nonisolated let touched = Mutex<Set<TablePlace>>([])
    private var bell: WakeFile?
    private var reader: LogReader?
    private var listener: (any LogListener)?
    /// The next offset to drain, by table.
    private var positions: [TablePlace: Int64] = [:]
    /// Up to where the listener has been told that records came.
    private var told: [TablePlace: Int64] = [:]
    /// Without a ring there is a look at the file each second.
    private var nextLook = Instant.distantPast
    private var lastVersion: Int64 = -1
    /// No jobs are handed out.
    private var isHalted = false

    private static let lookInterval = Duration.seconds(1)

    package nonisolated var executor: any SerialExecutor { thread }
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    package init(_ log: EmbeddedLog) { self.log = log }

    package func start(_ listener: any LogListener) async throws(LogFailure) {
        try log.folder.takeOwnership()
        do throws(LogFailure) {
            try await begin(listener)
        } catch {
            await releaseAll()
            throw error
        }
    }

    package nonisolated func drain(
        _ topic: Topic, _ partition: PartitionID, limit: Int
    ) throws(LogFailure) -> [Record] {
        try onExecutor { (consumer) throws(LogFailure) in
            try consumer.take(TablePlace(topic: topic, partition: partition), limit: limit)
        }
    }

    package nonisolated func position(_ topic: Topic, _ partition: PartitionID) -> Int64? {
        assumeIsolated { $0.positions[TablePlace(topic: topic, partition: partition)] }
    }

    package nonisolated func rewind(
        _ topic: Topic, _ partition: PartitionID, to offset: Int64
    ) throws(LogFailure) {
        assumeIsolated { consumer in
            let place = TablePlace(topic: topic, partition: partition)
            consumer.positions[place] = offset
            consumer.touched.withLock { _ = $0.insert(place) }
            consumer.thread.wake()
        }
    }

    package nonisolated func commit(_ topic: Topic, _ partition: PartitionID, below offset: Int64) {
        log.writer.commit(offset, of: TablePlace(topic: topic, partition: partition))
    }

    package nonisolated func committed(_ topic: Topic, _ partition: PartitionID) -> Int64? {
        assumeIsolated { consumer in
            try? consumer.reader?.committed(TablePlace(topic: topic, partition: partition))
        }
    }

    package nonisolated func restart(
        _ topic: Topic, _ partition: PartitionID, at offset: Int64
    ) throws(LogFailure) {
        try rewind(topic, partition, to: offset)
        commit(topic, partition, below: offset)
    }

    /// Nothing is revoked here, so there is nothing that waits for the answer.
    package nonisolated func release(_ partition: PartitionID) {}

    package func stop() async {
        guard listener != nil else { return }
        await releaseAll()
    }

    private func releaseAll() async {
        thread.stopPolling()
        (listener, reader, bell) = (nil, nil, nil)
        await log.writer.endOwnership()
        log.folder.releaseOwnership()
    }

    private func begin(_ listener: any LogListener) async throws(LogFailure) {
        let (epochs, committed) = try await log.writer.beginOwnership { [weak self] touched in
            guard let self else { return }
            self.touched.withLock { $0.formUnion(touched) }
            thread.wake()
        }
        // The bell before the first look at the ends, so that nothing comes between them unheard.
        let bell = try log.folder.watchedBell()
        let reader = try LogReader.open(log.folder)
        (self.listener, self.reader, self.bell) = (listener, reader, bell)
        for place in TablePlace.all(Topic.consumed, of: log.partitionCount) { positions[place] = committed[place] ?? 0 }
        isHalted = log.writer.isHalted.load(ordering: .relaxed)
        var folded: [TablePlace: Int64] = [:]
        for place in TablePlace.all([.origins], of: log.partitionCount) { folded[place] = .max }
        for (number, epoch) in epochs.enumerated() {
            let partition = PartitionID(Int32(number))
            let bounds = ByFoldedTopic<Range<Int64>>(
                variants: try reader.bounds(TablePlace(topic: .variants, partition: partition)),
                parked: try reader.bounds(TablePlace(topic: .parked, partition: partition)))
            let starts = listener.assigned(partition, epoch: epoch, folded: bounds)
            for topic in Topic.folded {
                let place = TablePlace(topic: topic, partition: partition)
                (positions[place], folded[place]) = (starts[topic], starts[topic])
            }
        }
        try await dropTombstones(below: folded)
        // Said of everything once: what came before there was anybody to tell.
        lastVersion = try reader.dataVersion()
        touched.withLock { $0.formUnion(TablePlace.all(Topic.drained, of: log.partitionCount)) }
        thread.poll([bell.watch]) { [weak self] in self?.assumeIsolated { $0.turn() } }
    }

    private func dropTombstones(below offsets: [TablePlace: Int64]) async throws(LogFailure) {
        do throws(LogFailure) { try await log.writer.dropTombstones(below: offsets) } catch {
            // Those of a full disk go at the next start.
            guard case .full = error else { throw error }
        }
    }

    private func take(_ place: TablePlace, limit: Int) throws(LogFailure) -> [Record] {
        guard let reader, let position = positions[place] else { throw .closed }
        if isHalted, !place.topic.isFolded { return [] }
        let records = try reader.records(place, from: position, limit: limit)
        if let last = records.last { positions[place] = last.offset + 1 }
        return records
    }

    /// Tells the listener what has come, by our own appends or another process's.
    private func turn() -> Instant? {
        guard let listener, let reader, let bell else { return nil }
        let heard = bell.heard()
        let own = touched.withLock { touched in
            defer { touched.removeAll(keepingCapacity: true) }
            return touched
        }
        for place in own where Topic.drained.contains(place.topic) { listener.readable(place.topic, place.partition) }
        let now = SystemTime.monotonic
        guard heard || now >= nextLook else { return nextLook }
        nextLook = now + Self.lookInterval
        tellHalt(listener)
        do throws(LogFailure) {
            try log.folder.checkPlace()
            let version = try reader.dataVersion()
            guard version != lastVersion else { return nextLook }
            lastVersion = version
            for (place, end) in try reader.drainedEnds() where end > max(told[place] ?? 0, positions[place] ?? 0) {
                told[place] = end
                listener.readable(place.topic, place.partition)
            }
        } catch {
            listener.failed(error)
            return nil
        }
        return nextLook
    }

    /// While the disk is nearly full no jobs are handed out. Those that the listener has are finished.
    private func tellHalt(_ listener: any LogListener) {
        let wasHalted = isHalted
        isHalted = log.writer.isHalted.load(ordering: .relaxed)
        if isHalted {
            listener.halted(.halted(path: log.folder.path, until: log.folder.reserve.part(2)))
        } else if wasHalted {
            listener.halted(nil)
            for place in positions.keys { listener.readable(place.topic, place.partition) }
        }
    }

    private nonisolated func onExecutor<Result: Sendable>(
        _ body: @Sendable (isolated EmbeddedLogConsumer) throws(LogFailure) -> Result
    ) throws(LogFailure) -> Result {
        try assumeIsolated { consumer -> Swift.Result<Result, LogFailure> in
            do throws(LogFailure) { return .success(try body(consumer)) } catch { return .failure(error) }
        }.get()
    }
}
