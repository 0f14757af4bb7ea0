internal import Digest
internal import Failures
internal import ImageModel
internal import Partition
internal import Planning
internal import Ports
internal import Posix
internal import Records
internal import Telemetry
internal import VariantSpec

/// The stages of a flight that await, each feeding its result back: fetch → render → store → announce.
extension Worker {
    func beginFetch(_ flight: FlightID, url: String, lane: Lane) async {
        // No child of the worker's group: a group cancels all its tasks or none.
        let fetch = Task(executorPreference: ports.tasks) { await self.fetch(flight, url: url, lane: lane) }
        if has(flight) { fetches[flight] = fetch } else { fetch.cancel() }
        await withTaskCancellationHandler {
            await fetch.value
        } onCancel: {
            fetch.cancel()
        }
        fetches[flight] = nil
    }

    private nonisolated func fetch(_ flight: FlightID, url: String, lane: Lane) async {
        do {
            let source = try await ports.fetcher.fetch(FetchRequest(url: url, lane: lane))
            let picture = try ports.renderer.inspect(source.body)
            await fetched(flight, source, picture)
        } catch {
            await done(.failed(flight, note(of: error)))
        }
    }

    /// Stages throw their own failures; anything else must not leave a flight without an end.
    private nonisolated func note(of error: any Error) -> FailureNote {
        if let failure = error as? any StageFailure { return FailureNote(failure) }
        logger.error("A stage ended with an error that is none of its own: \(error)")
        return FailureNote(StageFault.unexpected("\(error)"))
    }

    private func fetched(_ flight: FlightID, _ source: FetchedSource, _ picture: Picture) {
        counters.fetchedBytes += source.body.length
        // Of a partition that went meanwhile nobody would ever let the body go.
        if has(flight) { fetched[flight] = (source, picture) }
        let facts = picture.facts
        done(
            .fetched(
                flight,
                FetchedFacts(
                    version: source.version, digest: source.digest, bytes: source.body.length, format: facts.format,
                    size: facts.size, hasAlpha: facts.hasAlpha, frames: facts.frames)))
    }

    nonisolated func make(_ flight: FlightID, _ task: RenderTask, _ body: (source: FetchedSource, picture: Picture)?)
        async
    {
        do {
            let damaged = try await damaged(task.renewed)
            guard damaged.isEmpty else { return try await forget(damaged.map(RenderSource.Input.donor), of: flight) }
            var (rendered, facts): ([RenderedVariant], SourceFacts?) = ([], nil)
            if let batch = task.batch {
                switch try await render(batch, body, task.lane, of: flight) {
                case .made(let variants, let seen): (rendered, facts) = (variants, seen)
                case .refused(let spec, let note): return await done(.refusedVariant(flight, spec, note))
                case .unusable: return try await forget([batch.renderSource.input], of: flight)
                }
            }
            await feed(.rendered(flight))
            let (source, rows) = try await store(rendered, of: task.batch, facts, task.source, body)
            await announcing(flight)
            let position = try await announce(source, rows + task.renewed, of: flight, task.traceparent)
            await announced(flight, task, source, rows, position)
        } catch let failure as LogFailure where failure.isOfPartition {
            await done(.unannounced(flight, FailureNote(failure)))
        } catch {
            await done(.failed(flight, note(of: error)))
        }
    }

    private enum Rendered {
        case made([RenderedVariant], SourceFacts)
        /// One of them cannot be written; the others can.
        case refused(VariantSpec, FailureNote)
        /// What is stored is gone, or is no picture any more.
        case unusable
    }

    private nonisolated func render(
        _ batch: Batch, _ body: (source: FetchedSource, picture: Picture)?, _ lane: Lane, of flight: FlightID
    ) async throws -> Rendered {
        let input = batch.renderSource.input
        let picture: Picture
        if case .fetched = input {
            guard let body else { return .unusable }
            picture = body.picture
        } else {
            // Other bytes under the name may still decode, to another picture than the source's.
            guard let file = try await ports.store.open(input.location, if: { batch.renderSource.isStored(as: $0) })
            else {
                return try await removed(input)
            }
            switch Result(catching: { () throws(RenderFailure) in try ports.renderer.inspect(file) }) {
            case .success(let stored): picture = stored
            // The machine's fault: it says nothing of what is stored.
            case .failure(.noSpace(let reason)): throw RenderFailure.noSpace(reason: reason)
            // Not damaged: the settings have become stricter since it was stored.
            case .failure(.unsupported(let format)): throw RenderFailure.unsupported(format)
            case .failure: return try await removed(input)
            }
        }
        // To open what is stored takes time, and the partition may have come back with a flight of its own.
        _ = try await owner(of: flight)
        do {
            let orders = batch.distinct
            let made = try await ports.renderer.render(picture, orders, lane: lane, isReuse: batch.renderSource.isDonor)
            return .made(
                batch.orders.compactMap { order in
                    zip(orders, made).first { order.isSamePicture(as: $0.0) }?.1.named(order.spec)
                },
                picture.facts.ofSource)
        } catch let failure {
            switch failure {
            case .output(let spec, _), .outOfMemory(let spec?, _): return .refused(spec, FailureNote(failure))
            case .malformed where !input.isFetched, .truncated where !input.isFetched: return try await removed(input)
            default: throw failure
            }
        }
    }

    /// What is stored is gone or damaged, not the source. Its file goes too, or a put would find it under its name and keep it.
    private nonisolated func removed(_ input: RenderSource.Input) async throws -> Rendered {
        try await ports.store.remove(input.location)
        return .unusable
    }

    /// Stores all that was made in one put, and the original of a fetched source with it if it is small enough: the best
    /// donor for sizes that come later.
    private nonisolated func store(
        _ rendered: [RenderedVariant], of batch: Batch?, _ facts: SourceFacts?, _ source: SourceRow?,
        _ body: (source: FetchedSource, picture: Picture)?
    ) async throws(StoreFailure) -> (source: SourceRow?, rows: [VariantRow]) {
        var source = source
        var blobs: [NewBlob] = []
        if let source, let body, body.source.body.length <= configuration.originalsLimit {
            let name = BlobName(original: source.source, source.version, source.format)
            blobs.append(NewBlob(FileSlice(whole: body.source.body), as: name))
        }
        let originals = blobs.count
        if let renderSource = batch?.renderSource {
            blobs += rendered.map {
                NewBlob($0.content, as: BlobName(renderSource.source, renderSource.version, $0.spec))
            }
        }
        let stored = try await ports.store.put(blobs)
        if originals > 0 { source?.original = stored[0].location }
        guard let renderSource = batch?.renderSource else { return (source, []) }
        let rows = zip(rendered, stored.dropFirst(originals)).map { variant, blob in
            var row = renderSource.row(
                of: variant.spec, as: variant.rendition, facts: facts, bytes: blob.bytes, digest: blob.digest,
                location: blob.location, at: now)
            // Of another making that ended before its row: what it was made from is not known, so it may be no donor.
            if blob.isAnothers { row.madeFrom = .donor(variant.spec) }
            return row
        }
        return (source, rows)
    }

    /// Rows into the changelog, acknowledged; the position after them.
    private nonisolated func announce(
        _ source: SourceRow?, _ rows: [VariantRow], of flight: FlightID, _ traceparent: String?
    ) async throws(LogFailure) -> Int64 {
        let records =
            (source.map { [$0.newRecord(partition: flight.partition, traceparent: traceparent)] } ?? [])
            + rows.map { $0.newRecord(partition: flight.partition, traceparent: traceparent) }
        return try await append(records, of: flight)
    }

    /// The blobs are gone: their rows go too, so that nobody tries them again, and the flight is planned without them.
    private nonisolated func forget(_ inputs: [RenderSource.Input], of flight: FlightID) async throws(LogFailure) {
        // No permit is held for as long as the log takes.
        await feed(.rendered(flight))
        await announcing(flight)
        let rows = inputs.compactMap { input -> NewRecord? in
            switch input {
            case .fetched: return nil
            case .original(var row, _):
                row.original = nil
                return row.newRecord(partition: flight.partition)
            case .donor(let row): return VariantRow.drop(row.spec, of: row.source, partition: flight.partition)
            }
        }
        _ = try await append(rows, of: flight)
        await done(.blobsGone(flight, locations: inputs.map(\.location)))
    }

    /// Those of stored rows whose blobs are not what was stored. Read in full, since they are about to be promised for as
    /// long again; once in a source's life time, and after a fetch that cost more.
    private nonisolated func damaged(_ rows: [VariantRow]) async throws(StoreFailure) -> [VariantRow] {
        var damaged: [VariantRow] = []
        for row in rows where try await ports.store.open(row.location, if: { $0 == row.digest }) == nil {
            try await ports.store.remove(row.location)
            damaged.append(row)
        }
        return damaged
    }

    private nonisolated func append(_ records: [NewRecord], of flight: FlightID) async throws(LogFailure) -> Int64 {
        let owner = try await owner(of: flight)
        var position: Int64 = 0
        for result in await ports.log.append(records.map { $0.announced(in: owner.epoch) }, as: owner) {
            if let failure = result.failure { throw failure }
            position = max(position, (result.offset ?? -1) + 1)
        }
        return position
    }

    private nonisolated func owner(of flight: FlightID) async throws(LogFailure) -> Ownership {
        guard let owner = await ownership(of: flight) else {
            throw .unavailable(reason: "partition \(flight.partition) has another owner")
        }
        return owner
    }

    /// What the flight has to say is on its way to the log: it is stored, so the disk has room for another.
    private func announcing(_ flight: FlightID) {
        let wasFull = isStoreFull
        scheduler.announce(flight)
        if wasFull { settle() }
    }

    private func announced(
        _ flight: FlightID, _ task: RenderTask, _ source: SourceRow?, _ rows: [VariantRow], _ position: Int64
    ) {
        counters.count(variants: rows.count, isReuse: task.isReuse)
        done(.announced(flight, task, source: source, rows: rows, position: position))
    }

    /// Whether the flight's ownership still stands.
    private func has(_ flight: FlightID) -> Bool { partitions[flight.partition]?.state.has(flight) ?? false }

    /// A stage ended: its event is fed, and what follows from it is begun.
    private func done(_ event: PartitionEvent) {
        underWay -= 1
        switch event {
        case .failed(_, let note), .unannounced(_, let note), .refusedVariant(_, _, let note):
            counters.countFailure(note.code)
        default: break
        }
        feed(event)
        settle()
    }

    private func feed(_ event: PartitionEvent) {
        guard let flight = event.flight else { return }
        if let owned = partitions[flight.partition], owned.state.has(flight) {
            feed(event, to: owned)
        } else {
            // Given up meanwhile: nobody else lets its permits go.
            scheduler.forget(flight)
        }
        if case .rendered = event { settle() }
    }
}

extension LogFailure {
    /// Whether it says something of the partition that was appended to, and not of this machine: what the embedded log has
    /// no room for, it has for no partition.
    fileprivate var isOfPartition: Bool {
        switch self {
        case .full, .reserved, .closed: false
        case .held, .unreadable, .tooLarge, .unavailable, .denied, .misconfigured, .topics, .recreated, .expired: true
        }
    }
}

extension RenderSource {
    /// Whether bytes of this digest are those that were stored.
    fileprivate func isStored(as digest: SHA256Digest) -> Bool {
        switch input {
        case .fetched, .original: SourceVersion(digest) == version
        case .donor(let row): digest == row.digest
        }
    }
}

extension RenderSource.Input {
    var isFetched: Bool { if case .fetched = self { true } else { false } }

    var location: String {
        switch self {
        case .fetched: ""
        case .original(_, let location): location
        case .donor(let row): row.location
        }
    }
}

extension PartitionEvent {
    var flight: FlightID? {
        switch self {
        case .granted(_, let id), .fetched(let id, _), .rendered(let id), .announced(let id, _, _, _, _),
            .blobsGone(let id, _), .refusedVariant(let id, _, _), .failed(let id, _), .unannounced(let id, _):
            id
        case .arrived, .answered, .found, .passed, .folded, .settled, .tick: nil
        }
    }
}
