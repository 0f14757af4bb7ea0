internal import Canonical
internal import ImageModel
import Index
import Ledger
import Ports
import Posix
internal import Records

/// One partition of `variants`, with what a restore published in it and could not.
struct RestoredPartition {
    let partition: PartitionID
    let log: any Log
    let store: StoreSight
    let allowsMissing: Bool
    let writes: Bool
    /// Sentences about indexes that are not used and rows that are missing, with the next step.
    var notes: [String]
    /// The index that was published.
    private(set) var index: String?
    private(set) var rows = 0
    /// Variants that outcomes name, and neither the topic nor the index has.
    private(set) var missing = 0
    /// Workers take the partition up.
    private(set) var isOpen = false
    mutating func run(from indexes: [SavedIndex]) async throws {
        let candidates = indexes.compactMap { index in
            index.checkpoint.map {
                ChangelogRestore.Candidate(path: index.path, checkpoint: $0, store: index.progress?.store)
            }
        }
        let isUnread = !notes.isEmpty
        var changelog = ChangelogRestore(partition, from: candidates)
        let end = try await read(.variants, from: 0) { changelog.read($0) }
        let verdicts = changelog.verdicts(end: end, store: store.identity)
        for (candidate, verdict) in verdicts { note(candidate, verdict) }
        let newest = verdicts.first { $0.verdict == .newest }?.candidate
        let source = indexes.first { $0.path == newest?.path }
        isOpen = changelog.isOpened
        // A topic that was not recreated needs no rows: compaction removed those that it lacks.
        guard source != nil || !isOpen else { return }
        index = newest?.path
        try await look(for: source, in: changelog)
        let isUnused = isUnread || verdicts.contains { $0.verdict == .ofAnotherStore || $0.verdict == .undecided }
        guard source != nil || missing == 0 && !isUnused || allowsMissing else {
            notes.append(
                "The partition stays stopped. If no other index of it is left, run this again with --allow-missing: rows that no index holds are then rendered again when they are requested."
            )
            return
        }
        if let source { try await publish(source, in: changelog) }
        try await append(changelog.end(source?.progress, at: SystemTime.wall))
        isOpen = true
        guard writes else { return }
        // Used again later, they would bring back dropped rows.
        for (candidate, verdict) in verdicts where verdict == .newest || verdict == .older {
            indexes.first { $0.path == candidate.path }?.retire()
        }
    }

    private mutating func note(_ candidate: ChangelogRestore.Candidate, _ verdict: ChangelogRestore.Verdict) {
        switch verdict {
        case .newest, .known: break
        case .older:
            notes.append(
                "\(candidate.path) is not used: another index of this partition is newer."
            )
        case .ofAnotherStore:
            let found = store.identity.map { "\($0)" } ?? "none"
            notes.append(
                "\(candidate.path) is not used: its rows name files of the store \(candidate.store.map { "\($0)" } ?? "none"), and \(store.place) is the store \(found). Correct store.*, or name the indexes of this store's workers with --index."
            )
        case .undecided:
            notes.append(
                "\(candidate.path) is not used: none of the rows that it folded last is in the topic, nor another in their place. If the topic was recreated, name the index of the partition's last worker with --index."
            )
        }
    }

    /// Counts variants that outcomes name and that have no row. Outcomes from before the index's progress row are skipped,
    /// because a variant that they name and the index lacks was dropped.
    private mutating func look(for index: SavedIndex?, in changelog: ChangelogRestore) async throws {
        var named: [String] = []
        var lost: Set<[UInt8]> = []
        _ = try await read(.outcomes, from: index?.progress?.answers?[.outcomes] ?? 0) { record in
            guard let report = try? OutcomeReport(record), let source = report.source else { return }
            let variants = report.variants.filter {
                $0.kind != .failed && $0.kind != .degraded && !changelog.has(source, $0.spec)
            }
            guard !variants.isEmpty else { return }
            // A damaged row is not published either.
            let known = (try? index?.snapshot(of: source)?.variants.map(\.spec)) ?? []
            for variant in variants where !known.contains(variant.spec) {
                guard lost.insert(RecordKey.variant(source, variant.spec).bytes).inserted else { continue }
                if named.count < 3 { named.append("\(variant.spec) of \(report.url)") }
            }
        }
        missing = lost.count
        guard missing > 0 else { return }
        notes.append(
            "\(missing) variants that outcomes name are in no index\(index == nil ? "" : " that is used"): \(named.joined(separator: ", "))\(missing > named.count ? ", …" : ""). "
                + (index == nil && !allowsMissing
                    ? "The partition stays stopped. Name the index folder of its last worker with --index; if there is none, run this again with --allow-missing, and they are rendered again when they are requested."
                    : "They are rendered again when they are requested."))
    }

    private mutating func publish(_ index: SavedIndex, in changelog: ChangelogRestore) async throws {
        var place: Int64 = 0
        var damaged = 0
        while case let page = try index.page(after: place, limit: 256), let end = page.end {
            let records = page.snapshots.flatMap { changelog.missing(from: $0) }
            try await append(records)
            rows += records.count
            damaged += page.damaged
            place = end
        }
        guard damaged > 0 else { return }
        notes.append(
            "\(damaged) rows of \(self.index ?? "the index") are damaged and not published: their variants are rendered again when they are requested."
        )
    }

    private func append(_ records: [NewRecord]) async throws {
        guard writes, !records.isEmpty else { return }
        if let failure = await log.append(records).lazy.compactMap(\.failure).first { throw failure }
    }

    /// Returns the topic's end.
    private func read(_ topic: Topic, from start: Int64, _ body: (Record) throws -> Void) async throws -> Int64 {
        let bounds = try await log.bounds(topic, partition)
        var next = max(start, bounds.lowerBound)
        while next < bounds.upperBound {
            let records = try await log.read(topic, partition, from: next, limit: 4_096)
            // Offsets have gaps, at the end too.
            guard let last = records.last else { break }
            for record in records { try body(record) }
            next = last.offset + 1
        }
        return bounds.upperBound
    }
}
