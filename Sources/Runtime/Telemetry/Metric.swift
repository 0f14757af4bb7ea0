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
    case staleAnswers = "mezzotint_origin_stale_answers_total"
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
    case answersWaiting = "mezzotint_answers_waiting"
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
        case .staleAnswers: ["host"]
        case .recordsUnfinished, .recordsFinishedAhead: ["topic"]
        case .stepSources, .stepOldest: ["step"]
        case .permits, .permitsInUse: ["kind"]
        case .lagRecords, .lagSeconds: ["topic", "partition"]
        case .partitionsOwned, .partitionsAssigned, .partitionsRestoring, .restoreRowsLeft, .restoredRows, .retries,
            .fetches, .fetchedBytes, .renders, .answersWaiting, .workUnderWay, .rendererLosses, .rendererMemory,
            .logConnected, .partitions, .storedBytes, .logAppend, .rendererCPU, .processCPU, .processMemory,
            .processStart, .openFiles, .openFilesLimit, .clockSkew:
            []
        }
    }

    package var meaning: String {
        switch self {
        case .buildInfo: "1, labelled with the program's version and its client id, as mezzotint lag shows it."
        case .logConnected:
            "1 where the log answered when it was asked last, every two seconds; 0 where it did not within five."
        case .partitions: "Partitions that every topic has: as many as all workers together should own."
        case .partitionsOwned: "Partitions that this worker owns now."
        case .partitionsAssigned: "Partitions that came to this worker; grows with every rebalance."
        case .partitionsRestoring: "Owned partitions whose index is not restored yet: their jobs wait."
        case .restoreRowsLeft:
            "Changelog records that restoring partitions have to take in still; at most, since offsets have gaps."
        case .restoredRows: "Rows taken from the changelog into indexes by restores."
        case .jobs: "Answered jobs, by lane and by what became of them."
        case .jobFailures: "Jobs that ended as failed or dead, by the code of their outcome."
        case .jobWait:
            "From the append of a job's record to its first permit, or to its answer where nothing was to be made; of jobs that were done."
        case .jobWork: "From a job's first permit until what it asked for is stored and announced."
        case .deadLetters:
            "Dead letters of the partitions that this worker owns, those that were discarded left out: jobs that need a person."
        case .retries: "Jobs that were put off to be tried again."
        case .variants: "Variants that are stored (from a fetch), reused (made from what was stored) or unchanged."
        case .donorRefusals:
            "Stored variants that did not stand in for a source that was fetched, by the first rule that refused them; once for each variant that was wanted."
        case .fetches: "Fetches of sources that were begun: `requests` of a run's last line."
        case .sourceChecks:
            "Sources that were fetched, by what was found: new ones, those that their origins confirmed (notModified), the same bytes, changed ones."
        case .originChecks:
            "Fetches of sources that were known, by host or group of hosts: those that found nothing new (match), and changes; of the first 1,000 hosts."
        case .staleAnswers:
            "Jobs that were answered by what is stored since their host could not be asked, by host or group of hosts; of the first 1,000."
        case .fetchedBytes: "Bytes of sources that were fetched."
        case .fetchTime:
            "How long fetches took, each redirect for itself, with their header's reading, failed ones too."
        case .renders: "Variants that were rendered, stored and announced."
        case .renderTime:
            "How long renders took: one decode and all variants made of it, by their format; several where they have more than one."
        case .storedBytes: "Bytes of variants and originals that were stored."
        case .storePut: "How long the store took for all files of one source."
        case .logAppend: "How long the log took to acknowledge a batch of rows or answers."
        case .diskFree: "Bytes that may still be written to the disk of a folder: store, or data."
        case .spans: "Spans that the collector took (sent), or that were given up (dropped): traces.endpoint."
        case .failures:
            "Stages that failed, by code: fetch, render, store, index and log, retried or not; of log.expired the records that retention removed."
        case .recordsUnfinished: "Records that were taken up and are not finished, by topic."
        case .recordsFinishedAhead:
            "Records that are finished behind one that is not: they are answered again if the worker dies or the partition goes."
        case .answersWaiting: "Answers that were decided and that the log has not acknowledged."
        case .workUnderWay: "Fetches, renders and announcements that run now."
        case .stepSources:
            "Sources that are being fetched, rendered, stored, or looked up in the index and the store (look)."
        case .stepOldest:
            "Seconds since the slowest source of a step last made progress, 0 if there is none: a store that hangs shows here."
        case .permits: "The most fetches and renders at once; late: fetches of more than a second, beside the others."
        case .permitsInUse: "Fetches and renders that hold a permit now; late: fetches that have left theirs to others."
        case .lagRecords:
            "Unfinished records of the partitions that this worker owns. Left out while the log does not answer."
        case .lagSeconds:
            "Age of the oldest unfinished record, 0 where there is none. Left out while the log does not answer."
        case .clockSkew:
            "How far the worker's clock is ahead of the brokers' at least, by records that it wrote and read back; below 0: behind. Left out with the embedded log, and until a record was read back."
        case .rendererLosses: "Renderer processes that crashed, hung or answered nonsense."
        case .rendererMemory: "Resident memory of the renderer processes together."
        case .rendererCPU: "Processor time of renderers and inspectors, those that have ended too."
        case .processCPU: "Processor time of the worker, its renderers left out."
        case .processMemory: "Resident memory of the worker, its renderers left out."
        case .processStart: "When the worker was started, in seconds since 1970."
        case .openFiles: "Files that the worker has open."
        case .openFilesLimit: "The most files that the worker may have open."
        }
    }
}
