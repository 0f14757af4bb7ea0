internal import Canonical
internal import Clocks
import CommandLine
internal import HTTPCache
internal import ImageModel
import JSONText
internal import Planning
internal import Records
internal import VariantSpec

/// What the log shows on one source, for people and for scripts.
struct WhyReport {
    /// A limit of the source's host.
    struct Limit {
        let host: String
        /// State of the host, `throttledBy` of its waiting jobs, `fetches` (the workers' current limit), or a setting.
        let kind: String
        var value: Double?
        var code: String?
        var since: WallTime?
        /// nil if it does not end by itself.
        var until: WallTime?
    }

    /// What a job for the variant would do.
    private struct Planned {
        let spec: VariantSpec
        /// `stored`, `render` or `fetch`.
        let action: String
        /// `original`, or the donor's spec; nil unless it is rendered from one of these.
        let from: String?
        /// Why each stored variant cannot be the donor, in their order; nil: it can.
        let refusals: [DonorRefusal?]
        let isReuseOff: Bool
    }

    let source: CanonicalSource
    let steps: [CanonicalStep]
    let snapshot: SourceSnapshot
    let hidden: HiddenParameters
    let now: WallTime
    var limits: [Limit] = []
    var waiting: [OutcomeSearch.Pending] = []
    var last: OutcomeReport?
    private var planned: Planned?

    init(
        source: CanonicalSource, steps: [CanonicalStep], snapshot: SourceSnapshot, hidden: HiddenParameters,
        now: WallTime
    ) {
        (self.source, self.steps, self.snapshot, self.hidden, self.now) = (source, steps, snapshot, hidden, now)
    }

    /// Plans a job as its owner would.
    mutating func plan(_ spec: VariantSpec, _ rules: ReuseRules) {
        let plan = Plan([spec], snapshot: snapshot, now: now, rules: rules)
        let input = plan.reuses.first?.renderSource.input
        let from: String? =
            switch input {
            case .donor(let row)?: row.spec.description
            case .original?: "original"
            case .fetched?, nil: nil
            }
        let question = snapshot.version.map { DonorQuestion(snapshot, $0, now: now, rules: rules) }
        planned = Planned(
            spec: spec, action: !plan.unchangedPlaces.isEmpty ? "stored" : from != nil ? "render" : "fetch", from: from,
            refusals: snapshot.variants.map { row in question.flatMap { Donor.refusal(of: row, for: spec, $0) } },
            isReuseOff: !rules.isEnabled)
    }

    /// Fields may be added; none is left out.
    func writeJSON() {
        Output.object { json in
            json.field("source", source.url)
            json.field("sourceKey", source.key.hex)
            json.objects("canonical", steps) { json, step in
                json.field("rule", step.rule)
                json.field("before", step.before)
                json.field("after", step.after)
            }
            json.objects("stored", snapshot.variants) { json, row in row.list(by: &json) }
            json.key("plan")
            if let planned {
                json.object { json in
                    json.field("spec", "\(planned.spec)")
                    json.field("action", planned.action)
                    json.field("from", planned.from)
                }
            } else {
                json.null()
            }
            json.objects("donors", donors) { json, donor in
                json.field("spec", "\(donor.row.spec)")
                json.field("refusal", donor.refusal?.rawValue)
                json.field("message", donor.refusal?.sentence)
            }
            writeFetch(to: &json)
            json.objects("limits", limits) { json, limit in
                json.field("host", limit.host)
                json.field("kind", limit.kind)
                json.key("value")
                if let value = limit.value { json.number(value) } else { json.null() }
                json.field("code", limit.code)
                json.field("since", limit.since.map { Timestamp.text($0) })
                json.field("until", limit.until.map { Timestamp.text($0) })
            }
            json.objects("waiting", waiting) { $1.write(to: &$0, hiding: hidden, at: now) }
            json.key("lastOutcome")
            if let last {
                json.beginObject()
                json.field("job", last.job)
                json.field("kind", last.kind.rawValue)
                json.field("code", last.failure?.code)
                json.field("message", last.failure.map { hidden.hide(in: $0.message) })
                json.field("at", Timestamp.text(last.at))
                json.endObject()
            } else {
                json.null()
            }
        }
    }

    private var donors: [(row: VariantRow, refusal: DonorRefusal?)] {
        planned.map { Array(zip(snapshot.variants, $0.refusals)) } ?? []
    }

    private func writeFetch(to json: inout JSONWriter) {
        json.key("lastFetch")
        guard let row = snapshot.source else { return json.null() }
        json.beginObject()
        json.field("at", Timestamp.text(row.fetchedAt))
        json.field("expires", Timestamp.text(row.expires))
        json.field("version", "\(row.version)")
        json.field("format", row.format.rawValue)
        json.field("width", row.size.width)
        json.field("height", row.size.height)
        json.field("bytes", row.bytes)
        json.field("original", row.original)
        json.objects("validators", row.policy.conditions) { json, condition in
            json.field("name", condition.name)
            json.field("value", condition.value)
        }
        json.endObject()
    }

    func writeText() {
        Console.write(
            TextTable.text([
                ["source", ShownURL(source.url, hiding: hidden).description], ["source key", source.key.hex],
            ]))
        for step in steps {
            Console.print("  \(step.rule): \(hidden.hide(in: step.before)) → \(hidden.hide(in: step.after))")
        }
        Console.print("\n" + plannedText)
        if snapshot.variants.isEmpty {
            Console.print("No variant is stored.")
        } else {
            let reasons = planned?.refusals ?? snapshot.variants.map { _ in nil }
            let rows = zip(snapshot.variants, reasons).map { row, refusal in
                [
                    "\(row.spec)", "\(row.size)", VariantsCommand.text(row.derivedFrom, isFromKept: row.isFromKept),
                    row.expires > now ? "for \(Output.age(row.expires - now))" : "no",
                    planned == nil ? "" : refusal?.rawValue ?? "yes", refusal?.sentence ?? "",
                ]
            }
            Console.write(TextTable.text(["STORED", "SIZE", "MADE FROM", "FRESH", "DONOR", "WHY NOT"], rows))
        }
        Console.print("\n" + fetchText)
        for limit in limits { Console.print(text(limit)) }
        if let last {
            let failure = last.failure.map { ": \($0.code), \(hidden.hide(in: $0.message))" } ?? "."
            Console.print(
                "The last job \(last.job) ended as \(last.kind.rawValue) \(Output.age(of: last.at, at: now)) ago\(failure)"
            )
        }
        Console.print(waiting.isEmpty ? "No job of this source waits." : "")
        if !waiting.isEmpty { Console.write(OutcomesReport.table(of: waiting, hiding: hidden, at: now)) }
    }

    private var plannedText: String {
        guard let planned else { return "Name a variant to see what a job for it would do." }
        let off = planned.isReuseOff ? " (reuse.enabled is false)" : ""
        return switch planned.action {
        case "stored": "A job for \(planned.spec) does nothing: the variant is stored and fresh."
        case "render":
            "A job for \(planned.spec) renders it from \(planned.from == "original" ? "the kept original" : planned.from ?? ""), without a fetch."
        default: "A job for \(planned.spec) fetches the source\(off)."
        }
    }

    private var fetchText: String {
        guard let row = snapshot.source else { return "Last fetch: unknown, no row of the source is in the log." }
        let fresh = row.expires > now ? "fresh until" : "stale since"
        let validators = row.policy.conditions.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
        return
            "Last fetch: \(Timestamp.text(row.fetchedAt)), \(fresh) \(Timestamp.text(row.expires)). \(row.size), \(row.format.rawValue), \(row.bytes) bytes. \(validators.isEmpty ? "The origin sent no validator" : validators)."
    }

    private func text(_ limit: Limit) -> String {
        let value = limit.value.map { $0 == $0.rounded() ? " \(Int($0))" : " \($0)" } ?? ""
        let code = limit.code.map { " (\($0))" } ?? ""
        let until = limit.until.map { ", until \(Timestamp.text($0))" } ?? ""
        return "Limit of \(limit.host): \(limit.kind)\(value)\(code)\(until)."
    }
}
