/// Every family of metrics that a worker serves: the one table of their names, types, labels and meanings.
///
/// URLs and keys are never labels. Only two families have hosts as labels, the first thousand of them (`Counters`), so
/// that the number of series is bounded.
package enum Metric: String, Sendable, CaseIterable, MetricFamily {
    case buildInfo = "mezzotint_build_info"
    case logConnected = "mezzotint_log_connected"
    case partitions = "mezzotint_partitions"
    case partitionsOwned = "mezzotint_partitions_owned"
    case partitionsAssigned = "mezzotint_partitions_assigned_total"
    case partitionsRestoring = "mezzotint_partitions_restoring"
    case pauses = "mezzotint_pauses"
    case restoreRowsLeft = "mezzotint_restore_rows_left"
    case restoredRows = "mezzotint_restored_rows_total"
    case jobs = "mezzotint_jobs_total"
    case jobFailures = "mezzotint_job_failures_total"
    case jobWait = "mezzotint_job_wait_seconds"
    case jobWork = "mezzotint_job_work_seconds"
    case deadLetters = "mezzotint_dead_letters"
    case retries = "mezzotint_retries_total"
    case variants = "mezzotint_variants_total"
    case donorRefusals = "mezzotint_donor_refusals_total"
    case fetches = "mezzotint_fetches_total"
    case sourceChecks = "mezzotint_source_checks_total"
    case originChecks = "mezzotint_origin_checks_total"
    case staleOutcomes = "mezzotint_origin_stale_outcomes_total"
    case fetchedBytes = "mezzotint_fetched_bytes_total"
    case fetchTime = "mezzotint_fetch_seconds"
    case renders = "mezzotint_renders_total"
    case renderTime = "mezzotint_render_seconds"
    case storedBytes = "mezzotint_stored_bytes_total"
    case storePut = "mezzotint_store_put_seconds"
    case logAppend = "mezzotint_log_append_seconds"
    case diskFree = "mezzotint_disk_free_bytes"
    case spans = "mezzotint_spans_total"
    case failures = "mezzotint_failures_total"
    case recordsUnfinished = "mezzotint_records_unfinished"
    case recordsFinishedAhead = "mezzotint_records_finished_ahead"
    case outcomesPending = "mezzotint_outcomes_pending"
    case workUnderWay = "mezzotint_work_under_way"
    case stepSources = "mezzotint_step_sources"
    case stepOldest = "mezzotint_step_oldest_seconds"
    case permits = "mezzotint_permits"
    case permitsInUse = "mezzotint_permits_in_use"
    case lagRecords = "mezzotint_consumer_lag_records"
    case lagSeconds = "mezzotint_consumer_lag_seconds"
    case clockSkew = "mezzotint_clock_skew_seconds"
    case rendererLosses = "mezzotint_renderer_losses_total"
    case rendererMemory = "mezzotint_renderer_resident_memory_bytes"
    case rendererCPU = "mezzotint_renderer_cpu_seconds_total"
    case processCPU = "process_cpu_seconds_total"
    case processMemory = "process_resident_memory_bytes"
    case processStart = "process_start_time_seconds"
    case crashes = "mezzotint_crashes_total"
    case openFiles = "process_open_fds"
    case openFilesLimit = "process_max_fds"

    /// Prometheus's type. A counter's name has the required ending.
    package var type: String {
        isHistogram ? "histogram" : rawValue.hasSuffix("_total") ? "counter" : "gauge"
    }

    /// Whether the family is a histogram. Only families in seconds are, and not those that describe one moment.
    package var isHistogram: Bool {
        switch self {
        case .jobWait, .jobWork, .fetchTime, .renderTime, .storePut, .logAppend: true
        default: false
        }
    }

    package var labels: [String] {
        switch self {
        case .buildInfo: ["version", "client"]
        case .jobs: ["lane", "outcome"]
        case .jobWait, .jobWork, .fetchTime, .storePut: ["lane"]
        case .renderTime: ["lane", "format"]
        case .deadLetters: ["partition"]
        case .donorRefusals: ["reason"]
        case .diskFree: ["folder"]
        case .jobFailures, .failures: ["code"]
        case .variants, .sourceChecks, .spans: ["result"]
        case .originChecks: ["host", "result"]
        case .staleOutcomes: ["host"]
        case .recordsUnfinished, .recordsFinishedAhead: ["topic"]
        case .stepSources, .stepOldest: ["step"]
        case .permits, .permitsInUse: ["kind"]
        case .pauses: ["scope"]
        case .lagRecords, .lagSeconds: ["topic", "partition"]
        case .partitionsOwned, .partitionsAssigned, .partitionsRestoring, .restoreRowsLeft, .restoredRows, .retries,
            .fetches, .fetchedBytes, .renders, .outcomesPending, .workUnderWay, .rendererLosses, .rendererMemory,
            .logConnected, .partitions, .storedBytes, .logAppend, .rendererCPU, .processCPU, .processMemory,
            .processStart, .crashes, .openFiles, .openFilesLimit, .clockSkew:
            []
        }
    }

    package var meaning: String {
        switch self {
        case .buildInfo: "Always 1, labelled with the version and with the client id that mezzotint lag shows."
        case .logConnected:
            "1 if the log responded to the last check, 0 if it did not within five seconds. Checks come every two seconds."
        case .partitions: "Partitions of each topic, which all workers together should own."
        case .partitionsOwned: "Partitions that this worker owns now."
        case .partitionsAssigned: "Partitions that were assigned to this worker. Each rebalance adds to it."
        case .pauses:
            "Active pauses in owned partitions, by scope: all, fast, slow, host. Lagwatch exports the same for all partitions."
        case .partitionsRestoring: "Owned partitions whose index is not restored yet. Their jobs wait."
        case .restoreRowsLeft:
            "Maximum changelog records that restoring partitions still have to read. Offsets have gaps, so there may be fewer."
        case .restoredRows: "Rows that restores applied from the changelog to indexes."
        case .jobs: "Completed jobs, by lane and outcome."
        case .jobFailures: "Jobs that ended as failed or dead, by the code of their outcome."
        case .jobWait:
            "Time from the append of a job's record to its first permit, or to its outcome if nothing had to be rendered. Only jobs that were done count."
        case .jobWork: "Time from a job's first permit until its variants are stored and announced."
        case .deadLetters:
            "Open dead letters of this worker's partitions, without discarded ones. An operator must look at these jobs."
        case .retries: "Jobs that were deferred for a retry."
        case .variants: "Variants that were stored (after a fetch), reused (derived from stored files) or unchanged."
        case .donorRefusals:
            "Stored variants that could not replace a fetch, by the first rule that refused them. Each counts once for each requested variant."
        case .fetches: "Started fetches of sources: `requests` in a run's last line."
        case .sourceChecks:
            "Fetched sources by result: new, confirmed by the origin (notModified), same bytes, or changed."
        case .originChecks:
            "Fetches of known sources, by host or host group, without a change (match) or with one. Covers the first 1,000 hosts."
        case .staleOutcomes:
            "Jobs that got stored variants because their host could not be asked, by host or host group. Covers the first 1,000 hosts."
        case .fetchedBytes: "Bytes of fetched sources."
        case .fetchTime:
            "Duration of fetches, failed ones included. Each redirect counts separately. Reading the image's header is included."
        case .renders: "Variants that were rendered, stored and announced."
        case .renderTime:
            "Duration of renders, each one decode with all its variants, by their format. The format is several if they differ."
        case .storedBytes: "Bytes of stored variants and originals."
        case .storePut: "Time that the store took for all files of one source."
        case .logAppend: "Time that the log took to acknowledge a batch of rows or outcomes."
        case .diskFree: "Bytes that may still be written to a folder's disk: store, or data."
        case .spans: "Spans that the collector of traces.endpoint accepted (sent), or that were dropped."
        case .failures:
            "Failed stages by code: fetch, render, store, index and log, retried or not. For log.expired it counts the records that retention removed."
        case .recordsUnfinished: "Accepted records that are not finished, by topic."
        case .recordsFinishedAhead:
            "Records that are finished behind an unfinished one. They may be repeated if the worker crashes or the partition moves."
        case .outcomesPending: "Outcomes that are decided and that the log has not acknowledged."
        case .workUnderWay: "Fetches, renders and announcements in progress."
        case .stepSources:
            "Sources that are being fetched, rendered, stored, or looked up in the index and the store (look)."
        case .stepOldest:
            "Seconds since the slowest source of a step last made progress, 0 if there is none. It shows a store that hangs."
        case .permits: "Maximum concurrent fetches and renders. slow-fetch: fetches of over a second, in addition."
        case .permitsInUse: "Fetches and renders that hold a permit. slow-fetch: fetches that left theirs to others."
        case .lagRecords:
            "Unfinished records of this worker's partitions; for the topic parked, the jobs that wait there. No sample while the log does not respond."
        case .lagSeconds:
            "Age of the oldest unfinished record, 0 if there is none. No sample while the log does not respond."
        case .clockSkew:
            "Minimum lead of the worker's clock over the brokers', from records that it wrote and read back. Below 0: it is behind. No sample with the embedded log, or before the first such record."
        case .rendererLosses: "Renderer processes that crashed, hung or sent invalid replies."
        case .rendererMemory: "Total resident memory of the renderer processes."
        case .rendererCPU: "Processor time of renderers and inspectors, including those that have ended."
        case .processCPU: "Processor time of the worker, without its renderers."
        case .processMemory: "Resident memory of the worker, without its renderers."
        case .processStart: "Start time of the worker, in seconds since 1970."
        case .crashes:
            "Processes of this worker that crashed, were killed or ended with an error, counted in its data folder. A stop by SIGTERM, and the end of an idle run, do not count."
        case .openFiles: "Files that the worker has open."
        case .openFilesLimit: "Maximum number of files that the worker may have open."
        }
    }
}
