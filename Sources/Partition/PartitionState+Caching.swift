internal import HTTPCache
package import ImageModel
internal import Planning
package import Ports
internal import VariantSpec

/// What HTTP caching adds to a flight: it asks whether what is stored still holds, and what it does with a yes.
extension PartitionState {
    /// What the origin is asked to confirm: only where a yes is enough, since it brings no body.
    func known(of flight: Flight, _ now: Moment) -> CachePolicy? {
        guard flight.fetched == nil, let source = flight.snapshot.source, !source.policy.conditions.isEmpty else {
            return nil
        }
        var reuse = rules.reuse
        reuse.allowsStale = true
        let wanted = flight.pendingJobs.flatMap { $0.choosing(by: source, rules.qualities).job.variants }
            .filter { flight.results[$0] == nil }
        let plan = Plan(wanted, snapshot: flight.snapshot, now: now.wall, rules: reuse)
        return plan.toFetch.isEmpty ? source.policy : nil
    }

    mutating func notModified(
        _ id: FlightID, _ head: AnswerHead, _ now: Moment, _ effects: inout [PartitionEffect]
    ) {
        guard let flight = flights[id], case .fetching(let course) = flight.stage, var row = flight.snapshot.source
        else { return }
        row.policy = row.policy.updated(by: head.fields, sent: head.sent, now: now.wall / 1000)
        row.expires = rules.freshness.freshUntil(row.policy, head.fields, asked: now.wall - head.elapsed)
        row.fetchedAt = now.wall
        goOn(flight, course, Flight.Fetched(row: row, picture: nil), &effects)
    }
}

extension Flight {
    /// Whether the source itself is here, to render from.
    var hasBody: Bool { course?.fetched?.picture != nil }
}

extension SourceRow {
    /// What its origin forbids to store is kept as the variants alone that were asked for.
    package var mayKeepOriginal: Bool { !policy.control.noStore }

    /// As it is announced: what was fetched is kept there, and what was confirmed where it was.
    package func kept(at original: String?, _ picture: FetchedPicture?) -> SourceRow {
        guard picture != nil else { return self }
        var row = self
        row.original = original
        return row
    }
}

extension SourceSnapshot {
    /// Rows take the place of those of their specs.
    mutating func renew(_ rows: [VariantRow]) {
        for row in rows {
            variants.removeAll { $0.spec == row.spec }
            variants.append(row)
        }
    }
}
