internal import Canonical
internal import Clocks
import CommandLine
internal import ImageModel
import LogChoice
internal import Planning
import Ports
import Posix
internal import Records
import Settings
internal import VariantSpec

/// `mezzotint why`: the plan for the next job of a source, and the limits that hold its jobs back, read from the log.
enum WhyCommand {
    static let command = Command(
        "why", abstract: "Show the plan for a source's next job, and why.",
        examples: [
            "mezzotint why https://a.example/b.jpg 640x480-q80.webp",
            "mezzotint why --json 'https://a.example/b.jpg?imageView&thumbnail=80x80'",
        ],
        arguments: [
            Argument("url", help: "The source URL, or a URL that asks for a variant."),
            Argument("spec", help: "The variant to plan for. Without one, the URL's own.", isOptional: true),
        ],
        options: [.json], run: run)

    private static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
        let settings = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings
        let rules = settings.canonicalRules
        let (source, steps) = try rules.explain(arguments.positionals[0])
        let spec = try arguments.positionals.dropFirst().first.map { try rules.spec(of: $0) } ?? source.variant
        return try await LogAccess.reading(arguments) { log in
            let now = SystemTime.wall
            let snapshot = try await snapshot(of: source.key, in: log)
            var report = WhyReport(source: source, steps: steps, snapshot: snapshot, hidden: rules.hidden, now: now)
            if let spec {
                let reuse = ReuseRules(
                    isEnabled: settings.reuse.enabled, lossBudget: settings.reuse.lossBudget,
                    allowsStale: settings.reuse.allowStale)
                report.plan(snapshot.source.map { spec.chosen(by: $0, rules.defaultQualities) } ?? spec, reuse)
            }
            report.limits = try await limits(of: source.fetchURL, settings, in: log, at: now)
            var lookup = OutcomeLookup(
                .source(source.key), in: log, intake: Intake(rules: rules), limit: newestOutcomes)
            try await lookup.run()
            (report.waiting, report.last) = (lookup.pending, lookup.ended.last?.report)
            if arguments.flag("json") { report.writeJSON() } else { report.writeText() }
            return .success
        }
    }

    private static let newestOutcomes = 10_000

    /// The source's rows in the changelog, variants largest first.
    private static func snapshot(of source: SourceKey, in log: any Log) async throws -> SourceSnapshot {
        let prefix = RecordKey.job(source).bytes + Array("/".utf8)
        let records = try await log.latest(.variants, source.partition(of: log.partitionCount), keyPrefix: prefix)
        var snapshot = SourceSnapshot(variants: try await VariantsCommand.rows(of: source, in: log))
        for record in records {
            if case .change(.source(let row)) = try ChangelogEntry(record) { snapshot.source = row }
        }
        return snapshot
    }

    /// Limits of the URL's host that are in force: its state, and the settings of its group.
    private static func limits(
        of url: String, _ settings: Settings, in log: any Log, at now: WallTime
    ) async throws -> [WhyReport.Limit] {
        let host = settings.originGroups.origin(of: url).description
        let reported = try await log.originReport(owners: try? await OriginsCommand.owners(of: log), at: now).hosts
        var limits: [WhyReport.Limit] = []
        if let summary = reported.first(where: { $0.host == host }) {
            if summary.state != .open {
                var limit = WhyReport.Limit(host: host, kind: summary.state.rawValue)
                (limit.code, limit.since, limit.until) = (summary.code, summary.since, summary.until)
                limits.append(limit)
            }
            if let held = summary.throttledBy { limits.append(.init(host: host, kind: held.rawValue)) }
            if summary.isReported { limits.append(.init(host: host, kind: "fetches", value: Double(summary.limit))) }
        }
        guard let group = settings.origins.groups.first(where: { $0.name == host }) else { return limits }
        for (kind, value) in [
            ("concurrency", Double(group.concurrency)), ("rate", group.rate),
            ("bytesPerSecond", Double(group.bytesPerSecond)),
        ] where value > 0 { limits.append(.init(host: host, kind: kind, value: value)) }
        return limits
    }
}
