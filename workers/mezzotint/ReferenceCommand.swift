internal import Canonical
import CommandLine
internal import Failures
internal import ImageModel
internal import Images
import Ports
internal import Records
import Settings
import Telemetry
internal import VariantSpec
import Watch

/// `mezzotint reference`: the generated part of config/reference.md, which a test compares.
enum ReferenceCommand {
    static let command = Command(
        "reference", abstract: "Print the generated part of config/reference.md.", isHidden: true,
        run: { _ in
            Console.write(page)
            return .success
        })

    static var page: String {
        """
        ## Settings

        Flags (`--set key=value`) win over the environment (`MEZZOTINT_FETCH_ALLOW` for `fetch.allow`), the environment over the file (`--config FILE` or `MEZZOTINT_CONFIG`), the file over the default. `mezzotint config check` lists every problem at once. Paths in a file are relative to the file's folder, all others to the working directory. Sizes take B, KiB, MiB or GiB, durations ms, s, m, h or d. A list in one line of text is divided by commas, or written as in YAML: `[a, b]`.

        \(Settings.reference)
        ## Outcomes

        | kind | means |
        |---|---|
        \(outcomes)

        ## Codes

        What becomes of a job: *retry* is tried again later, *wait* too and without counting an attempt, *fail* ends in an outcome, *dead letter* is set aside for a person to look at, with its original bytes.

        A source that gives nothing to make pictures of (404, another fault of the request, no picture) is remembered by the owner of its partition: for ten minutes, doubled each time up to a day where it still gives nothing, and for a day after a 410. Its jobs end with the same code meanwhile, and it is not asked. A job that says `freshness: force` has it asked all the same; a restart, or another owner, has forgotten it. What fails for its host's sake (429, 5xx, a name without an address, no connection, a deadline) is never remembered so: it is tried again (retry.base) until the host is left alone (origins.breaker.failures).

        | code | means | the job |
        |---|---|---|
        \(codes)

        ## Metrics

        Where `metrics.listen` says, a worker answers `GET /metrics` in Prometheus's text format 0.0.4: its counters since it was started, and what is so now. `/healthz` is 200 while the worker looks at its work, 503 where it has not for a minute; `/readyz` is 200 while it takes jobs, 503 while it starts, restores all or some of its partitions, owns none that others do, or stops.

        | family | type | labels | is |
        |---|---|---|---|
        \(families(Metric.allCases))

        ## Lagwatch's metrics

        `mezzotint-lagwatch` serves these where `--listen` says ([lagwatch.md](lagwatch.md)). What is not known has no sample.

        | family | type | labels | is |
        |---|---|---|---|
        \(families(WatchMetric.allCases))

        ## Causes

        The page of `mezzotint-lagwatch` names one cause at a time: the first of this list that it finds. Some causes are also found later, by weaker signs.

        | cause | means | do |
        |---|---|---|
        \(Cause.inOrder.map { "| `\($0.rawValue)` | \($0.meaning) | \($0.action) |" }.joined(separator: "\n"))

        ## Record headers

        Records are CloudEvents in binary mode with JSON bodies; of the headers below, producers of jobs need none. [asyncapi.json](asyncapi.json) has the keys, headers and bodies of every topic, with a JSON Schema each; [producers.md](producers.md) a producer in Python.

        | header | on | means |
        |---|---|---|
        \(headers)

        A tombstone of `variants` has `mz_epoch` alone.

        ## Outcome bodies

        | field | is |
        |---|---|
        | `job` | The job's id. |
        | `source` | The source key; absent where the record was no job. |
        | `url` | As it is fetched; of a job that was not done without volatile parameters and signatures, and empty where the record named none. |
        | `lane` | \(Lane.allCases.map { "`\($0.rawValue)`" }.joined(separator: " or ")). |
        | `kind` | One of the outcomes above. |
        | `attempts` | Attempts made before this one. |
        | `at` | Milliseconds since 1970. |
        | `variants` | What became of each: `spec`, `kind` (`stored`, `reused`, `unchanged`, `stale`, `degraded`, `failed`); of what is stored `location` (relative to the store), `width`, `height`, `bytes`, `madeFrom` (`origin`, or the donor's spec; its own where the file stood in the store before its row), `keptOriginal` (true if it was rendered from the kept original; absent otherwise), `alpha`, and unless it is unchanged `placeholder` (a ThumbHash in base 64), `colour` and `source` (`format`, `width`, `height`, `frames`, `alpha`, `orientation`, `truncated`, and `profileIgnored` if its colour profile is above 4 MiB), and where they say more than the spec `frames` and `quality`; of what failed `failure`. |
        | `failure` | `code`, of the table above, and `message`; absent where nothing failed. |
        | `heldBy` | What of its host held the job back last: `limit` (as many fetches ran as the host bears), `rate` (of its group), `breaker` (it failed, or wanted to be left alone) or `readAhead` (its jobs filled their share of what is read ahead); absent where nothing did, and where a source could not be reached. |

        ## Options of a spec

        In the order in which they are written; each once at most.

        | option | grammar | means |
        |---|---|---|
        \(options)

        """
    }

    private static var options: String {
        SpecOption.allCases.map { option in
            let grammar = "\"\(option.rawValue)\"" + (option.value.map { " " + $0.grammar } ?? "")
            return "| `\(option.example)` | `\(grammar)` | \(option.meaning) |"
        }.joined(separator: "\n")
    }

    private static var headers: String {
        let rows = [
            ("ce_specversion", "all", "`1.0`."),
            (
                EventHeader.id, "all",
                "On jobs, retries and dead letters the job's id, unique to the intent; a redelivery repeats it. On outcomes `<job's id>/outcome`; on rows made from what the row says."
            ),
            (
                "ce_source", "all",
                "`/mezzotint` on what workers write, `/mezzotint/publish` on what `publish` does; a producer's own."
            ),
            (
                "ce_type", "all",
                EventHeader.types.map { "`\($0)`" }.joined(separator: ", ")
                    + ". The number at the end is the version of the body."
            ),
            ("ce_time", "all", "When it happened, as RFC 3339 in UTC."),
            ("content-type", "all", "`application/json`; a dead letter's bytes are what they were."),
            (
                EventHeader.traceparent, "all",
                "W3C trace context, passed through from a job to its retries, its outcome, its dead letter, and the rows announced for it."
            ),
            (EventHeader.lane, "retry.*", "The lane of the job."),
            (EventHeader.attempt, "retry.*, dead", "Attempts made so far."),
            (EventHeader.notBefore, "retry.*", "Milliseconds since 1970, before which it is not begun."),
            (EventHeader.firstSeen, "retry.*", "Milliseconds since 1970 when the job first came."),
            (
                EventHeader.heldSince, "retry.*",
                "Milliseconds since 1970 since when the machine's fault has held the job back."
            ),
            (
                EventHeader.failingSince, "retry.*",
                "Milliseconds since 1970 since when the job's host has been at fault; left out where it was not."
            ),
            (
                EventHeader.deaths, "retry.*",
                "Workers that died while it ran, or may have run; left out where none did."
            ),
            (
                EventHeader.host, "retry.*",
                "The host that the job waits for, or the host's group, where redirects led to another than its URL's."
            ),
            (EventHeader.code, "retry.*, dead", "Why, as a code of the table above."),
            (EventHeader.message, "retry.*, dead", "Why, as a sentence."),
            (EventHeader.origin, "retry.*, dead", "The record that the bytes came from: `jobs.fast-3-17`."),
            (
                EventHeader.answers, "outcomes, retry.*, dead",
                "The record that this one answers, and when that was appended: `jobs.fast-3-17-1763802000000`. Older workers put `-dead` behind that in the outcome beside a dead letter."
            ),
            (
                EventHeader.url, "dead",
                "The source, where the bytes name one, without volatile parameters and signatures."
            ),
            (
                EventHeader.change, "retries",
                "Of a worker's own job: where variants of a source that has changed stood; what stands elsewhere by then is told."
            ),
            (
                EventHeader.signature, "jobs, retries",
                "Who published the job: `v1;KEY;HEX`, see [producers.md](producers.md#signed-jobs)."
            ),
            (EventHeader.length, "dead", "Bytes of a record that was cut."),
            (EventHeader.keyLength, "dead", "Bytes of a record's key that was cut."),
            (EventHeader.keyDigest, "dead", "SHA-256 of a record's key that was cut: the key ends with it."),
            (EventHeader.digest, "dead", "SHA-256 of a record that was cut."),
            (EventHeader.discards, "dead", "On a tombstone: the id of the dead letter that it takes back."),
            (
                EventHeader.replayedAs, "dead",
                "On a tombstone: the id under which `dead replay` published the job again."
            ),
            (EventHeader.epoch, "variants", "The owner's epoch: behind a record of a later one it counts for nobody."),
            (
                EventHeader.rekeyed, Topic.lanes.map(\.rawValue).joined(separator: ", "),
                "Set on a job that was appended again under the key that our rules make of its URL."
            ),
        ]
        return rows.map { "| `\($0.0)` | \($0.1) | \($0.2) |" }.joined(separator: "\n")
    }

    private static var outcomes: String {
        OutcomeKind.allCases.map { "| `\($0.rawValue)` | \($0.meaning) |" }.joined(separator: "\n")
    }

    private static func families(_ families: [some MetricFamily]) -> String {
        families.map { family in
            let labels = family.labels.map { "`\($0)`" }.joined(separator: ", ")
            return "| `\(family.rawValue)` | \(family.type) | \(labels) | \(family.meaning) |"
        }.joined(separator: "\n")
    }

    private static var codes: String {
        let entries = [
            CanonicalFailure.catalogue, JobFailure.catalogue, RecordFailure.catalogue, FetchFailure.catalogue,
            RenderFailure.catalogue, StoreFailure.catalogue,
            IndexFailure.catalogue, LogFailure.catalogue, RetryCause.catalogue, CacheFailure.catalogue,
            StageFault.catalogue,
        ].joined()
        return entries.map { "| `\($0.code)` | \($0.meaning) | \($0.verdict.rawValue) |" }.joined(separator: "\n")
    }
}
