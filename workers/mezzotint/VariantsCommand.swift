internal import Canonical
import CommandLine
internal import ImageModel
import LogChoice
import Ports
import Posix
internal import Records
import RendererPool
import Settings
import StoreChoice
internal import VariantSpec

/// `mezzotint variants`: the stored variants of a source, read from the changelog.
enum VariantsCommand {
    static let command = Command(
        "variants", abstract: "List the stored variants of a source.",
        examples: ["mezzotint variants https://a.example/b.jpg", "mezzotint variants --json https://a.example/b.jpg"],
        arguments: [Argument("url", help: "The source URL. Transform parameters (imageView) are stripped.")],
        options: [.json], run: run)

    private static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
        let settings = try Settings.loaded(arguments, inspect: ChosenLog.problems).settings
        let (url, rules) = (arguments.positionals[0], settings.canonicalRules)
        let source = try rules.source(of: url).key
        return try await LogAccess.reading(arguments) { log in
            let rows = try await rows(of: source, in: log)
            if arguments.flag("json") {
                Output.array(rows) { json, row in row.list(by: &json) }
                return .success
            }
            if rows.isEmpty {
                Console.print("Nothing is stored for \(ShownURL(url, hiding: rules.hidden)).")
            } else {
                let now = SystemTime.wall
                // An older row may describe an earlier version of the source.
                if let row = rows.filter({ $0.facts != nil }).max(by: { $0.storedAt < $1.storedAt }),
                    let facts = row.facts
                {
                    let notes = facts.notes(frameLimit: settings.render.frameLimit)
                    Console.print("The source: \(row.sourceSize), \(notes.joined(separator: ", ")).")
                }
                // Locations are relative to it.
                Console.print("The store: \(ChosenStore.site(settings).place)")
                let cells = rows.map { row in
                    let age = Output.age(of: row.storedAt, at: now)
                    return [
                        "\(row.spec)", "\(row.size)", "\(row.bytes)", text(row.derivedFrom, isFromKept: row.isFromKept),
                        row.colour.map { "#" + $0.hex } ?? "", age,
                        row.expires > now ? "" : "stale", row.location,
                    ]
                }
                Console.write(
                    TextTable.text(["SPEC", "SIZE", "BYTES", "MADE FROM", "COLOUR", "AGE", "", "LOCATION"], cells))
            }
            await tellOfJobs(source, Intake(rules: rules), in: log)
            return .success
        }
    }

    /// Reports a pending job of the source, or its last failure, which explains missing variants.
    private static func tellOfJobs(_ source: SourceKey, _ intake: Intake, in log: any Log) async {
        var lookup = OutcomeLookup(.source(source), in: log, intake: intake, limit: newestOutcomes)
        // The stored variants are listed already: the command succeeds without this.
        do { try await lookup.run() } catch { return Console.complain("Its jobs cannot be looked up: \(error)") }
        var news: [String] = []
        if let job = lookup.pending.last {
            let others = lookup.pending.count - 1
            news.append("Job \(job.job)\(others > 0 ? " and \(others) more are" : " is") pending.")
        }
        if let last = lookup.ended.last?.report, !last.kind.isSuccess {
            news.append("Job \(last.job) ended as \(last.kind.rawValue)\(last.failure.map { " (\($0.code))" } ?? "").")
        }
        if !news.isEmpty {
            Console.complain("\(news.joined(separator: " ")) See 'mezzotint outcomes --url' with this URL.")
        }
    }

    private static let newestOutcomes = 10_000

    /// Rows of a source, largest first.
    static func rows(of source: SourceKey, in log: any Log) async throws -> [VariantRow] {
        let prefix = RecordKey.job(source).bytes + Array("/".utf8)
        let records = try await log.latest(.variants, source.partition(of: log.partitionCount), keyPrefix: prefix)
        let rows = try records.compactMap { record -> VariantRow? in
            guard case .change(.variant(let row)) = try ChangelogEntry(record) else { return nil }
            return row
        }
        return rows.sorted { ($0.size.pixels, $0.spec.description) > ($1.size.pixels, $1.spec.description) }
    }

    /// Provenance for people: a variant of the kept original cost no fetch.
    static func text(_ provenance: Provenance, isFromKept: Bool) -> String {
        isFromKept ? "original (kept)" : text(provenance)
    }

    static func text(_ provenance: Provenance) -> String {
        switch provenance {
        case .origin: "origin"
        case .donor(let spec): spec.description
        }
    }
}
