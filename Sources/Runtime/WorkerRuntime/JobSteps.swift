internal import Clocks
internal import Failures
internal import Hosts
internal import ImageModel
internal import Images
internal import Jobs
internal import Ledger
internal import Partition
internal import Planning
internal import Ports
internal import Positions
internal import Posix
internal import Records
internal import Telemetry
internal import VariantSpec

/// A job's seven steps, in order. Values that never await decide; the methods here perform.
///
/// | step | decides | performs |
/// |---|---|---|
/// | 1 take up | `Intake`, `Jobs.arrive` | `takeUp` |
/// | 2 look up | `Plan`, `Jobs.begin` | `lookUp` |
/// | 3 fetch | `PermitScheduler`, `Jobs.granted` | `fetch` |
/// | 4 render | `FetchedPlan`, `Jobs.renderTask` | `render` |
/// | 5 store | `BlobName` | `store` |
/// | 6 announce and fold | `EpochFold`, `Jobs.fold` | `announce`, `Worker+Fold` |
/// | 7 answer and commit | `Jobs.answer`, `CommittableOffset` | `send`, `Worker+Outcomes` |
extension Worker {
    /// 1. Turns records into jobs, canonicalised again, or refuses them with the reason.
    func takeUp(_ records: [Record], of topic: Topic, _ owned: OwnedPartition) {
        let moment = moment
        for record in records {
            feed(unlessParked(takeUp(record, &owned.recentParts[topic]), owned), to: owned, at: moment)
        }
    }

    /// 2. Looks up the stored rows of the job's source. They decide whether the job gets its outcome at once, joins a
    /// flight, or gets one. nil while the index or the store cannot be read.
    func lookUp(_ pending: PendingJob, in owned: OwnedPartition, at now: Moment) -> SourceSnapshot? {
        owned.isRestored ? snapshot(for: pending, in: owned, at: now) : nil
    }

    /// 3. Fetches the source and reads its header, or gets the origin's confirmation of the stored source.
    nonisolated func fetch(_ flight: FlightID, _ request: FetchRequest) async {
        let begun = ports.time.monotonic
        let event: PartitionEvent
        var bytes: Int?
        var isAsked = request.redirect == nil
        do throws(FetchFailure) {
            switch try await ports.fetcher.fetch(
                request, nearlyDone: { [tasks] in tasks.yield { await self.nearlyFetched(flight) } })
            {
            case .source(let source):
                bytes = source.bytes
                do throws(RenderFailure) {
                    var picture = try await ports.renderer.inspect(source.body)
                    if picture.facts.ignoresProfile {
                        logger.notice(
                            "The source's colour profile is too large to read. Its colours are treated as sRGB.",
                            ["url": .string("\(request.url)")])
                    }
                    let mayBeOpaque = picture.facts.hasAlpha && picture.facts.frames == 1
                    if request.needsAlpha, mayBeOpaque,
                        await ports.renderer.isOpaque(picture, origin: nil)
                    {
                        picture = picture.opaque
                    }
                    let isUnchecked = mayBeOpaque && !request.needsAlpha
                    event = .fetched(
                        flight, FetchedPicture(source: source, picture: picture, isAlphaUnchecked: isUnchecked))
                } catch {
                    event = .unfetched(flight, Unfetched(error, of: source.head, at: now))
                }
            case .refused(let failure, let head):
                event = .unfetched(flight, Unfetched(failure, of: head, at: now))
            case .notModified(let head): event = .notModified(flight, head)
            case .redirected(let redirect): event = .redirected(flight, redirect)
            }
        } catch {
            if error.unasked == request.url { isAsked = false }
            event = .unfetched(flight, Unfetched(error))
        }
        let step = Step(.fetch, begin: begun, end: ports.time.monotonic)
        await fetched(event, step, flight, request.lane, bytes, isAsked: isAsked)
    }

    /// 4 to 6. Renders all that the flight's jobs lack from one decode, stores it, then announces it.
    nonisolated func make(_ flight: FlightID, _ task: RenderTask) async {
        do {
            let damaged = try await damaged(task.renewed)
            guard damaged.isEmpty else { return try await forget(damaged.map(RenderSource.Input.donor), of: flight) }
            var pictures: Pictures?
            var steps = StepClock(ports.time)
            if let batch = task.batch {
                if batch.orders.contains(where: \.spec.isAuto) { return try await look(at: batch, of: task, flight) }
                switch try await render(batch, of: task, flight, after: task.made) {
                case .made(let made):
                    pictures = made
                    steps.end(.render(batch.formats))
                case .refused(let specs, let note, let made):
                    return await done(.refusedVariants(flight, specs, note, made: made))
                case .unusable: return try await forget([batch.renderSource.input], of: flight)
                }
            }
            await feed(.rendered(flight))
            let (original, rows) = try await store(pictures, of: task)
            steps.end(.store)
            await announcing(flight)
            let position = try await announce(original, rows, of: task, flight)
            steps.end(.announce)
            await announced(flight, task, original, rows, position, steps)
        } catch let failure as LogFailure where failure.isOfPartition {
            await done(.unannounced(flight, FailureNote(failure)))
        } catch {
            await done(.failed(flight, note(of: error)))
        }
    }

    /// 4. The variants that a task rendered from one image.
    struct Pictures: Sendable {
        let source: RenderSource
        let variants: [RenderedVariant]
        let facts: SourceFacts
    }

    /// 5. Stores all variants in one put, with the original of a fetched source if that is small enough. The original
    /// is the best donor for sizes that are requested later.
    private nonisolated func store(
        _ pictures: Pictures?, of task: RenderTask
    ) async throws(StoreFailure) -> (original: String?, rows: [VariantRow]) {
        var blobs: [NewBlob] = []
        if let fetched = task.fetched, let picture = fetched.picture, fetched.row.mayKeepOriginal,
            picture.source.bytes <= configuration.originalsLimit
        {
            let row = fetched.row
            let name = BlobName(original: row.source, row.version, row.format)
            blobs.append(NewBlob(FileSlice(whole: picture.source.body), as: name))
        }
        let originals = blobs.count
        if let pictures {
            let source = pictures.source
            blobs += pictures.variants.map { NewBlob($0.content, as: BlobName(source.source, source.version, $0.spec)) }
        }
        var stored = try await ports.store.put(blobs)
        let original = originals > 0 ? stored[0].location : nil
        guard let pictures else { return (original, []) }
        stored.removeFirst(originals)
        // One time for all: it identifies variants that were rendered together (`Flight.next`).
        let storedAt = now
        var rows: [VariantRow] = []
        for (variant, blob) in zip(pictures.variants, stored) {
            var row = pictures.source.row(
                of: variant.spec, as: variant.rendition, facts: pictures.facts, bytes: blob.bytes, digest: blob.digest,
                location: blob.location, at: storedAt)
            // A blob of another render that ended before its row. Its donor is not known, so it may not be a donor.
            if blob.isAnothers { row.derivedFrom = .donor(variant.spec) }
            if let old = task.replaced[variant.spec] { try await keep(old, as: &row, insteadOf: blob) }
            rows.append(row)
        }
        return (original, rows + (try await kept(of: rows, task)))
    }

    /// Rows of variants derived from a donor that did not change. They would not change either.
    private nonisolated func kept(
        of rows: [VariantRow], _ task: RenderTask
    ) async throws(StoreFailure) -> [VariantRow] {
        var kept: [VariantRow] = []
        let made = Set(rows.map(\.spec))
        for row in rows where task.replaced[row.spec]?.location == row.location {
            for var old in task.replaced.values where old.donor == row.spec && !made.contains(old.spec) {
                guard try await damaged([old]).isEmpty else { continue }
                (old.version, old.expires, old.storedAt) = (row.version, row.expires, min(old.storedAt, row.storedAt))
                kept.append(old)
            }
        }
        return kept
    }

    /// If the new bytes are identical, keeps the file and its location, so that consumers need no change event.
    private nonisolated func keep(
        _ old: VariantRow, as row: inout VariantRow, insteadOf blob: StoredBlob
    ) async throws(StoreFailure) {
        guard old.digest == row.digest, old.location != row.location,
            try await ports.store.open(old.location, if: { $0 == old.digest }) != nil
        else { return }
        if !blob.isAnothers { try await ports.store.remove(blob.location) }
        (row.location, row.storedAt) = (old.location, min(old.storedAt, row.storedAt))
    }

    /// 6. Appends rows to the changelog. Returns the position after them, once they are acknowledged. They count once
    /// they are applied.
    private nonisolated func announce(
        _ original: String?, _ rows: [VariantRow], of task: RenderTask, _ flight: FlightID
    ) async throws(LogFailure) -> Int64 {
        var records: [NewRecord] = []
        // Durable before the row that makes it known: a kill between them reports it twice, under one id, and never not
        // at all.
        var before: [NewRecord] = []
        if let change = task.change {
            before = change.newRecords(
                change.variants(by: task.standing + rows), partition: flight.partition, traceparent: task.traceparent)
        }
        if let pendingRefresh = task.pendingRefresh {
            before += pendingRefresh.newRecords(at: now, signedBy: configuration.keys)
        }
        if !before.isEmpty { _ = try await append(before, of: flight) }
        if let fetched = task.fetched {
            let source = fetched.row.kept(at: original, fetched.picture).checked(by: rows)
            records.append(source.newRecord(partition: flight.partition, traceparent: task.traceparent))
        }
        records += (rows + task.renewed).map {
            $0.newRecord(partition: flight.partition, traceparent: task.traceparent)
        }
        return try await append(records, of: flight)
    }

    /// 7. Writes a partition's outcomes as records, not on the thread that decides, and appends them together. Once
    /// they are acknowledged, their records are finished and offsets move.
    nonisolated func send(_ batch: Outbox.Batch, as owner: Ownership) async {
        var written = batch.again
        written.add(
            batch.new, partitions: ports.log.partitionCount, keys: configuration.keys, epoch: batch.parkedEpoch)
        let begun = ports.time.monotonic
        let results = written.records.isEmpty ? [] : await ports.log.append(written.records, as: owner)
        await sent(written, results, as: owner, took: ports.time.monotonic - begun)
    }
}

extension LogFailure {
    /// Whether the failure concerns the partition that was appended to, and not this machine. If the embedded log has
    /// no space, it has none for any partition.
    fileprivate var isOfPartition: Bool {
        switch self {
        case .full, .halted, .reserved, .closed, .replaced: false
        case .locked, .unreadable, .tooLarge, .unavailable, .denied, .misconfigured, .topics, .recreated, .expired,
            .hidden, .unread, .paused:
            true
        }
    }
}
