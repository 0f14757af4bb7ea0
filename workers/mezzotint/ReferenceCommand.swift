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

        Flags (`--set key=value`) override the environment (`MEZZOTINT_FETCH_ALLOW` for `fetch.allow`), which overrides the file (`--config FILE` or `MEZZOTINT_CONFIG`), which overrides the default. `mezzotint config check` lists every problem at once. Paths in a file are relative to the file's folder, all others to the working directory. Sizes have the unit B, KiB, MiB or GiB; durations have ms, s, m, h or d. A list in one line of text is separated by commas, or written as in YAML: `[a, b]`.

        \(Settings.reference)
        ## Outcomes

        | kind | means |
        |---|---|
        \(outcomes)

        ## Codes

        The last column shows what happens to the job. *retry*: it is retried later. *wait*: it is retried later, and the attempt does not count. *fail*: it ends with an outcome. *dead letter*: it becomes a dead letter with its original bytes, for an operator.

        If a source has no image (404, another error of the request, no image in the body), the owner of its partition caches the failure. It does so for ten minutes, doubled after each further failure up to a day, and for a day after a 410. Meanwhile the source's jobs end with the same code, without a request. A job with `freshness: force` still requests the source. A restart, or a change of owner, empties the cache. Failures of the host (429, 5xx, a name without an address, no connection, a timeout) are never cached: their jobs are retried (retry.base) until the host's circuit opens (origins.breaker.failures).

        | code | means | the job |
        |---|---|---|
        \(codes)

        ## Metrics

        At `metrics.listen`, a worker serves `GET /metrics` in Prometheus's text format 0.0.4: counters since its start, and current values. `/healthz` returns 200 while the worker's main loop runs, and 503 if the loop has been stuck for a minute or a step for `worker.standstill`. `/readyz` returns 200 while the worker accepts jobs. It returns 503 while the worker starts, restores all or some of its partitions, owns none although others do, or stops.

        | family | type | labels | is |
        |---|---|---|---|
        \(families(Metric.allCases))

        ## Lagwatch's metrics

        `mezzotint-lagwatch` serves these at `--listen` ([lagwatch.md](lagwatch.md)). Unknown values have no sample.

        | family | type | labels | is |
        |---|---|---|---|
        \(families(WatchMetric.allCases))

        ## Causes

        The page of `mezzotint-lagwatch` names one cause at a time: the first one in this list that applies. Some causes are checked again later, by weaker signs.

        | cause | means | do |
        |---|---|---|
        \(Cause.inOrder.map { "| `\($0.rawValue)` | \($0.meaning) | \($0.action) |" }.joined(separator: "\n"))

        ## Record headers

        Records are CloudEvents in binary mode with JSON bodies. Producers of jobs need none of the headers below. [asyncapi.json](asyncapi.json) defines the keys, headers and bodies of every topic, each with a JSON Schema. [producers.md](producers.md) has a producer in Python.

        | header | on | means |
        |---|---|---|
        \(headers)

        A tombstone of `variants` has only `mz_epoch`, one of `parked` also `mz_answers`. Records of the old topics `retry` and `retry.*` have the headers of `parked`, without `mz_works_as`, `mz_moved`, `mz_ends` and `mz_epoch`.

        ## Outcome bodies

        | field | is |
        |---|---|
        | `job` | The job's id. |
        | `source` | The source key; absent if the record was not a job. |
        | `url` | The URL that is fetched. If the job was not done, volatile parameters and signatures are left out. Empty if the record has no URL. |
        | `lane` | \(Lane.allCases.map { "`\($0.rawValue)`" }.joined(separator: " or ")). |
        | `kind` | One of the outcomes above. |
        | `attempts` | Attempts made before this one. |
        | `replays` | How often `dead replay` had published the job again; absent if it never did. |
        | `at` | Milliseconds since 1970. |
        | `variants` | The result of each variant: `spec` and `kind` (`stored`, `reused`, `unchanged`, `stale`, `degraded`, `failed`). A stored variant has `location` (relative to the store), `width`, `height`, `bytes`, `alpha` and `derivedFrom` (`origin`, or the donor's spec; its own spec if the file was in the store before its row). `keptOriginal` is true if it was rendered from the kept original, and absent otherwise. Unless it is unchanged, it also has `placeholder` (a ThumbHash in base 64), `colour` and `source` (`format`, `width`, `height`, `frames`, `alpha`, `orientation`, `truncated`, `profileIgnored` if its colour profile is above 4 MiB, and `drawing` if the renderer looked for colour edges in its decode: `true` if it has them, as coloured text, charts and screenshots do). `frames` and `quality` are present if they differ from the spec. A failed variant has `failure`. |
        | `failure` | `code` from the table above, and `message`; absent if nothing failed. |
        | `throttledBy` | The limit of its host that last delayed the job: `limit` (concurrent fetches), `rate` (of its group), `breaker` (the host failed, or requested a pause) or `readAhead` (its jobs filled their share of the read-ahead). Absent if nothing delayed it, or if the source was unreachable. |

        ## Outcomes of controls

        Each partition that a control went to gets one outcome of it, once the control applies to no further job there. A `pause` or `resume` gets it as soon as it is durable. The event type is `mezzotint.control.finished.v1`.

        | field | is |
        |---|---|
        | `control` | The control's id; the record's topic, partition and offset if its signature is missing or does not match. |
        | `verb` | `promote`, `demote`, `cancel`, `pause` or `resume`; absent if the control was refused. |
        | `named` | The fields of the control that name jobs (`job`, `url`, `host`, `lane`, `before`, `all`); absent if the control was refused. |
        | `partition` | The partition's number. |
        | `kind` | \(ControlOutcome.Kind.allCases.map { "`\($0.rawValue)`: \($0.meaning)" }.joined(separator: " ")) |
        | `jobs` | Number of jobs of the partition that the control ended or moved. |
        | `until` | End of a pause; absent otherwise. |
        | `by`, `why`, `requested` | As in the control, `requested` is its `at`; absent if the control does not state them. |
        | `at` | Milliseconds since 1970. |
        | `failure` | `code` from the table above, and `message`; absent if the control was not refused. |

        ## Options of a spec

        In the order in which they must be written; each at most once.

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
                "On jobs, parked rows and dead letters: the job's id, unique to the request; a redelivery repeats it. On outcomes: `<job's id>/outcome`, and `<job's id>/outcome/<replay count>` if `dead replay` published the job again. On controls: the control's id, the same in every partition. On outcomes of controls: `<control's id>/control/<partition>`. On rows: derived from the row's content."
            ),
            (
                "ce_source", "all",
                "`/mezzotint` on records of workers, `/mezzotint/publish` on jobs of `publish`, `/mezzotint/control` on controls of our commands; producers set their own."
            ),
            (
                "ce_type", "all",
                EventHeader.types.map { "`\($0)`" }.joined(separator: ", ")
                    + ". The number at the end is the version of the body."
            ),
            ("ce_time", "all", "Time of the event, as RFC 3339 in UTC."),
            ("content-type", "all", "`application/json`. A dead letter keeps its original bytes."),
            (
                EventHeader.traceparent, "all",
                "W3C trace context, passed from a job to its parked rows, its outcome, its dead letter and its changelog rows."
            ),
            (EventHeader.lane, "parked", "The lane of the job."),
            (EventHeader.worksAs, "parked", "The lane by which the job is scheduled; absent if it is the same."),
            (
                EventHeader.moved, "parked",
                "`1` if a control moved the job to the lane by which it is scheduled; absent otherwise."
            ),
            (EventHeader.attempt, "parked, dead", "Attempts made so far."),
            (EventHeader.notBefore, "parked", "Milliseconds since 1970; the job does not start earlier."),
            (
                EventHeader.ends, "parked",
                "Milliseconds since 1970 when the job expires or is abandoned: it is then examined even if its host has no room. Absent if it does neither."
            ),
            (EventHeader.firstSeen, "parked", "Milliseconds since 1970 when the job first arrived."),
            (
                EventHeader.heldSince, "parked",
                "Start of the machine's fault that delays the job, in milliseconds since 1970."
            ),
            (
                EventHeader.failingSince, "parked",
                "Start of the host's failures, in milliseconds since 1970; absent if it did not fail."
            ),
            (
                EventHeader.crashes, "parked",
                "Number of workers that crashed while the job ran, or may have run; absent if none did."
            ),
            (
                EventHeader.host, "parked",
                "The host, or its group, in whose share the job waits. It is its URL's, unless redirects led to another."
            ),
            (EventHeader.code, "parked, dead", "Reason, as a code from the table above."),
            (EventHeader.message, "parked, dead", "Reason, as a sentence."),
            (
                EventHeader.origin, "parked, dead, replayed jobs",
                "The record that the bytes came from: `jobs.fast-3-17`. On a tombstone of `dead`: that of the dead letter which it discards."
            ),
            (
                EventHeader.replays, "replayed jobs, parked, dead",
                "How often `dead replay` had published the job again. On a tombstone of `dead`: that of the dead letter which it discards. Absent if never."
            ),
            (
                EventHeader.answers, "outcomes, parked, dead",
                "The record that this one completes, and its append time: `jobs.fast-3-17-1763802000000`, or `control-3-17-1763802000000`. For a parked job, the identity in its row's key. Older workers append `-dead` to it in the outcome of a dead letter."
            ),
            (
                EventHeader.url, "dead",
                "The source, if the bytes name one, without volatile parameters and signatures."
            ),
            (
                EventHeader.change, "parked",
                "On a worker's own job: the locations of a changed source's variants. Variants whose location has changed by then are reported."
            ),
            (
                EventHeader.signature, "jobs, parked, control, dead",
                "Signature of the job's or control's publisher: `v1;KEY;HEX`, see [producers.md](producers.md#signed-jobs)."
            ),
            (EventHeader.length, "dead", "Length in bytes of a truncated record."),
            (EventHeader.keyLength, "dead", "Length in bytes of a record's truncated key."),
            (EventHeader.keyDigest, "dead", "SHA-256 of a record's truncated key: the key ends with it."),
            (EventHeader.digest, "dead", "SHA-256 of a truncated record."),
            (EventHeader.discards, "dead", "On a tombstone: the id of the dead letter that it discards."),
            (
                EventHeader.replayedAs, "dead",
                "On a tombstone: the id under which `dead replay` published the job again. Since 0.2.0, its own."
            ),
            (
                EventHeader.epoch, "variants, parked",
                "The owner's epoch: behind a record of a later one it counts for nobody."
            ),
            (
                EventHeader.rekeyed, Topic.lanes.map(\.rawValue).joined(separator: ", "),
                "Set on a job that was republished under the correct key of its URL."
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
            CanonicalFailure.catalogue, JobFailure.catalogue, ControlFailure.catalogue, RecordFailure.catalogue, FetchFailure.catalogue,
            RenderFailure.catalogue, StoreFailure.catalogue,
            IndexFailure.catalogue, LogFailure.catalogue, RetryCause.catalogue, CacheFailure.catalogue,
            StageFault.catalogue,
        ].joined()
        return entries.map { "| `\($0.code)` | \($0.meaning) | \($0.verdict.rawValue) |" }.joined(separator: "\n")
    }
}
