package import Clocks
package import ImageModel
internal import Images
package import VariantSpec

/// What to do for the variants of a job, decided from what is stored alone: no clock, no file, no network.
///
/// Each variant is in exactly one place: unchanged, in one of the reuses, or to be fetched. If anything must be fetched,
/// everything missing is rendered from that fetch, so `reuses` and `toFetch` are never both filled.
///
/// A stored picture that turns out to be gone: take its row (or the original's location) out of the snapshot, plan again.
package struct Plan: Sendable, Hashable {
    private let snapshot: SourceSnapshot
    /// Stored and fresh, in the order asked: their places among the snapshot's variants, since rows are large.
    package private(set) var unchangedPlaces: [Int] = []
    package var unchanged: [VariantRow] { unchangedPlaces.map { snapshot.variants[$0] } }
    /// One decode each. From the kept original there is one for everything missing.
    package private(set) var reuses: [RenderBatch] = []
    /// Missing, and nothing stored may stand in for all of it.
    package private(set) var toFetch: [VariantSpec] = []

    package init(_ wanted: [VariantSpec], snapshot: SourceSnapshot, now: WallTime, rules: ReuseRules) {
        self.snapshot = snapshot
        guard let version = snapshot.version else {
            toFetch = wanted
            return
        }
        unchangedPlaces.reserveCapacity(wanted.count)
        var missing: [VariantSpec] = []
        let stored = snapshot.variants
        for spec in wanted {
            // A loop of its own: a closure would get a copy of each row.
            var place = 0
            while place < stored.count, stored[place].version != version || stored[place].spec != spec { place += 1 }
            if place < stored.count, rules.isFresh(until: stored[place].expires, at: now) {
                unchangedPlaces.append(place)
            } else {
                missing.append(spec)
            }
        }
        guard !missing.isEmpty else { return }
        guard rules.isEnabled else {
            toFetch = missing
            return
        }
        // A format that is still open takes a look at the source itself.
        let isOpen = missing.contains(where: \.isAuto)
        let batches =
            isOpen ? Plan.look(missing, snapshot, now, rules) : Plan.reuses(missing, snapshot, version, now, rules)
        if let batches { reuses = batches } else { toFetch = missing }
    }

    /// The kept original, if its pixels decide about the formats that are open.
    private static func look(
        _ missing: [VariantSpec], _ snapshot: SourceSnapshot, _ now: WallTime, _ rules: ReuseRules
    ) -> [RenderBatch]? {
        guard let source = snapshot.source, source.isAlphaUnchecked, let original = source.original,
            rules.isFresh(until: source.expires, at: now),
            missing.allSatisfy({ !$0.isAuto || $0.isChosenByAlpha })
        else { return nil }
        return [RenderBatch(RenderSource(original: source, at: original), missing)]
    }

    /// Everything missing from what is stored, or nil.
    private static func reuses(
        _ missing: [VariantSpec], _ snapshot: SourceSnapshot, _ version: SourceVersion, _ now: WallTime,
        _ rules: ReuseRules
    ) -> [RenderBatch]? {
        if let source = snapshot.source, let original = source.original, rules.isFresh(until: source.expires, at: now) {
            return [RenderBatch(RenderSource(original: source, at: original), missing)]
        }
        let question = DonorQuestion(snapshot, version, now: now, rules: rules)
        var batches: [RenderBatch] = []
        for spec in missing {
            guard let donor = Donor.best(for: spec, in: snapshot, question) else { return nil }
            let order = RenderOrder(
                spec: spec, output: spec.placement(of: donor.row.sourceSize).output, crop: donor.crop)
            if let known = batches.firstIndex(where: { $0.renderSource.input == .donor(donor.row) }) {
                batches[known].orders.append(order)
            } else {
                batches.append(RenderBatch(donor, question.regions, first: order))
            }
        }
        return batches
    }
}

extension Donor {
    /// The best of a source's stored variants for a wanted one, if any may stand in.
    package static func best(for spec: VariantSpec, in snapshot: SourceSnapshot, _ question: DonorQuestion) -> Donor? {
        var best: Donor?
        for row in snapshot.variants {
            guard
                let donor = try? Donor(
                    row, for: spec, as: spec.placement(asIn: row, around: question.regions), in: question)
            else {
                continue
            }
            if best.map(donor.isBetter) ?? true { best = donor }
        }
        return best
    }

    /// Why a stored variant may not stand in for a wanted one; nil: it may.
    package static func refusal(of row: VariantRow, for spec: VariantSpec, _ question: DonorQuestion) -> DonorRefusal? {
        do throws(DonorRefusal) {
            _ = try Donor(row, for: spec, as: spec.placement(asIn: row, around: question.regions), in: question)
            return nil
        } catch {
            return error
        }
    }

    /// Why each of a source's stored variants may not stand in for a wanted one.
    package static func refusals(
        for spec: VariantSpec, in snapshot: SourceSnapshot, _ question: DonorQuestion
    ) -> [DonorRefusal] {
        snapshot.variants.compactMap { refusal(of: $0, for: spec, question) }
    }
}

extension SourceSnapshot {
    /// The newest version known: the source's own, or where that row is gone that of what was stored last.
    package var version: SourceVersion? {
        if let version = source?.version { return version }
        return variants.max { $0.storedAt < $1.storedAt }?.version
    }
}
