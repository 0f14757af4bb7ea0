internal import Canonical
internal import Digest
internal import Failures
internal import ImageModel
internal import Images
internal import Jobs
internal import Ledger
internal import Partition
internal import Planning
internal import Ports
internal import Posix
internal import Records
internal import VariantSpec

/// Renders from fetched or stored bytes in one decode, and handles blobs that are missing or damaged.
extension Worker {
    enum Rendered {
        case made(Pictures)
        /// These variants cannot be rendered. The others may, and some of them are rendered.
        case refused([VariantSpec], FailureNote, [RenderedVariant])
        /// The stored blob is missing, or is no image any more.
        case unusable
    }

    /// - Parameter earlier: variants of the batch that were rendered before.
    nonisolated func render(
        _ batch: RenderBatch, of task: RenderTask, _ flight: FlightID,
        after earlier: [RenderedVariant] = []
    ) async throws -> Rendered {
        let input = batch.renderSource.input
        let picture: Picture
        if case .fetched = input {
            guard let fetched = task.fetched?.picture else { return .unusable }
            picture = fetched.picture
        } else {
            guard let stored = try await stored(batch.renderSource) else { return try await removed(input) }
            picture = stored
        }
        // Reading stored blobs takes time, and the partition may have come back with its own flight.
        _ = try await owner(of: flight)
        let inspected = batch.inspected(picture.facts.regions)
        let orders = inspected.distinct
        var made = orders.compactMap { order -> (order: RenderOrder, variant: RenderedVariant)? in
            earlier.first { $0.spec == order.spec }.map { (order, $0) }
        }
        let isReuse = batch.renderSource.isDonor
        let lacking = orders.filter { order in !made.contains { $0.order == order } }
        for part in ports.renderer.parts(of: lacking, from: picture, isReuse: isReuse) {
            if !made.isEmpty { await comesOn(flight) }
            do throws(RenderFailure) {
                let origin = task.origin.description
                let variants = try await renderTwice(picture, part, isReuse, origin, flight)
                made += zip(part, variants).map { ($0, $1) }
            } catch {
                let rest = inspected.orders.filter { order in !made.contains { order.isSamePicture(as: $0.order) } }
                let specs = error.refused(
                    part, of: rest, frames: picture.facts.frames, hasMade: !made.isEmpty, isSecond: task.isLate)
                if let specs { return .refused(specs, FailureNote(error), made.map(\.variant)) }
                switch error {
                case .malformed where !input.isFetched, .truncated where !input.isFetched,
                    .unsupportedFeature where !input.isFetched:
                    return try await removed(input)
                default: throw error
                }
            }
        }
        let variants = inspected.orders.compactMap { order in
            made.first { order.isSamePicture(as: $0.order) }?.variant.named(order.spec)
        }
        return .made(Pictures(source: inspected.renderSource, variants: variants, facts: picture.facts.ofSource))
    }

    /// The stored image; nil if its file is missing or damaged.
    private nonisolated func stored(_ source: RenderSource) async throws -> Picture? {
        // Different bytes under the name may still decode, to another image than the source's.
        guard let file = try await ports.store.open(source.input.location, if: { source.isStored(as: $0) }) else {
            return nil
        }
        do throws(RenderFailure) { return try await ports.renderer.inspect(file) } catch {
            switch error {
            // The machine's fault, which shows nothing about the stored file. Nor is the file damaged if the settings
            // have become stricter since.
            case .noSpace, .unavailable, .unsupported, .tooManyPixels, .tooMuchMemory: throw error
            default: return nil
            }
        }
    }

    /// Examines the pixels of a kept original, for formats that depend on its alpha. A fetch would bring the same
    /// bytes.
    nonisolated func look(at batch: RenderBatch, of task: RenderTask, _ flight: FlightID) async throws {
        let input = batch.renderSource.input
        guard case .original(var row, _) = input, let picture = try await stored(batch.renderSource) else {
            try await ports.store.remove(input.location)
            return try await forget([input], of: flight)
        }
        let origin = task.origin.description
        row.hasAlpha = await !ports.renderer.isOpaque(picture, origin: origin)
        row.isAlphaUnchecked = false
        // No permit is held for as long as the log takes.
        await feed(.rendered(flight))
        await announcing(flight)
        _ = try await append([row.newRecord(partition: flight.partition)], of: flight)
        await done(.looked(flight, row))
    }

    /// Renders a part. A missed deadline may be the machine's fault, so the same bytes get a second attempt, without
    /// another fetch.
    private nonisolated func renderTwice(
        _ picture: Picture, _ part: [RenderOrder], _ isReuse: Bool, _ origin: String, _ flight: FlightID
    ) async throws(RenderFailure) -> [RenderedVariant] {
        do throws(RenderFailure) {
            return try await ports.renderer.render(picture, part, isReuse: isReuse, origin: origin)
        } catch {
            // The partition may have gone meanwhile, and come back with its own flight.
            guard case .deadline = error, (try? await owner(of: flight)) != nil else { throw error }
            await comesOn(flight)
            return try await ports.renderer.render(picture, part, isReuse: isReuse, origin: origin)
        }
    }

    /// Notes progress. Jobs of one source may request so much that each part is done in time, and all of them are not.
    private func comesOn(_ flight: FlightID) { duties.standstill.comeOn(flight) }

    /// Removes the file of a stored blob that is missing or damaged, while the source is not. Otherwise a put would
    /// find the file under its name and keep it.
    private nonisolated func removed(_ input: RenderSource.Input) async throws -> Rendered {
        try await ports.store.remove(input.location)
        return .unusable
    }

    /// Drops the rows of missing blobs, so that they are not used again, and plans the flight without them.
    nonisolated func forget(_ inputs: [RenderSource.Input], of flight: FlightID) async throws(LogFailure) {
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

    /// Rows whose blobs differ from the stored ones. Blobs are read in full, because they are about to be promised for
    /// as long again. That happens once in a source's lifetime, after a fetch that cost more.
    nonisolated func damaged(_ rows: [VariantRow]) async throws(StoreFailure) -> [VariantRow] {
        var damaged: [VariantRow] = []
        for row in rows where try await ports.store.open(row.location, if: { $0 == row.digest }) == nil {
            try await ports.store.remove(row.location)
            damaged.append(row)
        }
        return damaged
    }

    /// Appends as the flight's owner. Returns the position after the records.
    nonisolated func append(_ records: [NewRecord], of flight: FlightID) async throws(LogFailure) -> Int64 {
        var (owner, epoch, parkedEpoch, folded) = try await owner(of: flight)
        while parkedEpoch == nil, records.contains(where: { $0.topic == .parked }) {
            // The epoch row will not come any more.
            if await isLeaving(flight.partition) {
                throw .unavailable(reason: "partition \(flight.partition) goes to another owner")
            }
            await pauseAfterRefusal()
            (owner, epoch, parkedEpoch, folded) = try await self.owner(of: flight)
        }
        var position: Int64 = 0
        let announced = records.map { $0.announced(in: $0.topic == .parked ? parkedEpoch ?? epoch : epoch) }
        let results = await ports.log.append(announced, as: owner)
        for (record, result) in zip(records, results) {
            if let failure = result.failure { throw failure }
            guard let offset = result.offset else { continue }
            if record.topic == .variants, offset < folded { await landed(at: offset, behind: folded, of: flight) }
            if record.topic == .parked { await parked(upTo: offset, of: flight.partition) }
            position = max(position, offset + 1)
        }
        return position
    }

    private func isLeaving(_ partition: PartitionID) -> Bool { partitions[partition]?.isLeaving ?? true }

    /// Notes a row that was appended for another job: the table lacks it until it is applied.
    private func parked(upTo offset: Int64, of partition: PartitionID) {
        guard let owned = partitions[partition] else { return }
        owned.parkedEnd = max(owned.parkedEnd, offset + 1)
    }

    private nonisolated func owner(
        of flight: FlightID
    ) async throws(LogFailure) -> (Ownership, epoch: Int64, parkedEpoch: Int64?, folded: Int64) {
        if let owner = await ownership(of: flight) { return owner }
        throw .unavailable(reason: "partition \(flight.partition) has another owner")
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
    fileprivate var isFetched: Bool { if case .fetched = self { true } else { false } }

    fileprivate var location: String {
        switch self {
        case .fetched: ""
        case .original(_, let location): location
        case .donor(let row): row.location
        }
    }
}
