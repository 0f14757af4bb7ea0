/// Every family of metrics that a worker serves: the one table of their names, types, labels and meanings.
///
/// No URL, host or key is ever a label, so that the number of series is bounded.
package enum Metric: String, Sendable, CaseIterable {
    case partitionsOwned = "mezzotint_partitions_owned"
    case partitionsAssigned = "mezzotint_partitions_assigned_total"
    case partitionsRestoring = "mezzotint_partitions_restoring"
    case restoreRowsLeft = "mezzotint_restore_rows_left"
    case restoredRows = "mezzotint_restored_rows_total"
    case jobs = "mezzotint_jobs_total"
    case jobFailures = "mezzotint_job_failures_total"
    case retries = "mezzotint_retries_total"
    case variants = "mezzotint_variants_total"
    case fetches = "mezzotint_fetches_total"
    case sourceChecks = "mezzotint_source_checks_total"
    case fetchedBytes = "mezzotint_fetched_bytes_total"
    case renders = "mezzotint_renders_total"
    case failures = "mezzotint_failures_total"
    case recordsUnfinished = "mezzotint_records_unfinished"
    case recordsFinishedAhead = "mezzotint_records_finished_ahead"
    case answersWaiting = "mezzotint_answers_waiting"
    case workUnderWay = "mezzotint_work_under_way"
    case permits = "mezzotint_permits"
    case permitsInUse = "mezzotint_permits_in_use"
    case lagRecords = "mezzotint_consumer_lag_records"
    case lagSeconds = "mezzotint_consumer_lag_seconds"
    case rendererLosses = "mezzotint_renderer_losses_total"
    case rendererMemory = "mezzotint_renderer_resident_memory_bytes"
    case processCPU = "process_cpu_seconds_total"
    case processMemory = "process_resident_memory_bytes"
    case processStart = "process_start_time_seconds"

    /// Prometheus's word, by the ending that it wants of a counter's name.
    package var type: String { rawValue.hasSuffix("_total") ? "counter" : "gauge" }

    package var labels: [String] {
        switch self {
        case .jobs: ["lane", "outcome"]
        case .jobFailures, .failures: ["code"]
        case .variants, .sourceChecks: ["result"]
        case .recordsUnfinished, .recordsFinishedAhead: ["topic"]
        case .permits, .permitsInUse: ["kind"]
        case .lagRecords, .lagSeconds: ["topic", "partition"]
        case .partitionsOwned, .partitionsAssigned, .partitionsRestoring, .restoreRowsLeft, .restoredRows, .retries,
            .fetches, .fetchedBytes, .renders, .answersWaiting, .workUnderWay, .rendererLosses, .rendererMemory,
            .processCPU, .processMemory, .processStart:
            []
        }
    }

    package var meaning: String {
        switch self {
        case .partitionsOwned: "Partitions that this worker owns now."
        case .partitionsAssigned: "Partitions that came to this worker; grows with every rebalance."
        case .partitionsRestoring: "Owned partitions whose index is not restored yet: their jobs wait."
        case .restoreRowsLeft:
            "Changelog records that restoring partitions have to take in still; at most, since offsets have gaps."
        case .restoredRows: "Rows taken from the changelog into indexes by restores."
        case .jobs: "Answered jobs, by lane and by what became of them."
        case .jobFailures: "Jobs that ended as failed or dead, by the code of their outcome."
        case .retries: "Jobs that were put off to be tried again."
        case .variants: "Variants that are stored (from a fetch), reused (made from what was stored) or unchanged."
        case .fetches: "Fetches of sources that were begun."
        case .sourceChecks:
            "Sources that were fetched, by what was found: new ones, those that their origins confirmed (notModified), the same bytes, changed ones."
        case .fetchedBytes: "Bytes of sources that were fetched."
        case .renders: "Variants that were rendered, stored and announced."
        case .failures: "Stages that failed, by code: fetch, render, store, index and log, tried again or not."
        case .recordsUnfinished: "Records that were taken up and are not finished, by topic."
        case .recordsFinishedAhead:
            "Records that are finished behind one that is not: they are answered again if the worker dies or the partition goes."
        case .answersWaiting: "Answers that were decided and that the log has not acknowledged."
        case .workUnderWay: "Fetches, renders and announcements that run now."
        case .permits: "The most fetches and renders at once."
        case .permitsInUse: "Fetches and renders that hold a permit now."
        case .lagRecords:
            "Unfinished records of the partitions that this worker owns. Left out while the log does not answer."
        case .lagSeconds:
            "Age of the oldest unfinished record, 0 where there is none. Left out while the log does not answer."
        case .rendererLosses: "Renderer processes that crashed, hung or answered nonsense."
        case .rendererMemory: "Resident memory of the renderer processes together."
        case .processCPU: "Processor time of the worker, its renderers left out."
        case .processMemory: "Resident memory of the worker, its renderers left out."
        case .processStart: "When the worker was started, in seconds since 1970."
        }
    }
}
