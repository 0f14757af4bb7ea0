internal import Access
internal import Canonical
internal import EmbeddedLog
internal import ImageModel
internal import KafkaSetup
internal import Origin
internal import RendererPool
internal import SettingTypes
internal import VariantSpec

extension Settings {
    /// The table of all settings: it feeds the reader, the environment, `--set`, the reference page and the test of
    /// `config/*`.
    package static let keys: [SettingKey] = [
        placeKeys, logKeys, kafkaKeys, jobKeys, laneKeys, fetchKeys, fetcherKeys, workKeys, renderKeys, storeKeys,
        runKeys, originKeys,
    ].flatMap(\.self)

    // The rows of these settings live next to their adapters.
    private static let logKeys: [SettingKey] = EmbeddedLogSettings.rows.map { $0.lifted(to: \.log) }
    private static let kafkaKeys: [SettingKey] = KafkaConfiguration.rows.map { $0.lifted(to: \.kafka) }
    private static let renderKeys: [SettingKey] = RendererSettings.rows.map { $0.lifted(to: \.render) }
    private static let fetcherKeys: [SettingKey] = OriginSettings.rows.map { $0.lifted(to: \.fetch.origin) }

    private static let placeKeys: [SettingKey] = [
        SettingKey(
            "data", \.data, .path(allowsEmpty: false),
            "Directory of the embedded log, the indexes and, unless store.directory is set, the store. In a file, a relative path starts at the file's folder; elsewhere, at the working directory."
        ),
    ]

    private static let jobKeys: [SettingKey] = [
        SettingKey(
            "jobs.keys", \.jobs.keys, .jobKeys,
            "Keys that sign jobs. If set, mezzotint publish signs jobs, and workers accept only signed jobs: unsigned ones become dead letters. Workers accept every listed key, so that you can rotate keys. A secret has at least 16 bytes, on one line."
        ),
        SettingKey(
            "jobs.sign", \.jobs.sign, .text,
            "Id of the key that mezzotint publish signs with. Empty: the first key of jobs.keys."),
    ]

    private static let laneKeys: [SettingKey] =
        Lane.allCases.map { lane in
            SettingKey(
                "lanes.\(lane.rawValue).target", \.lanes.targets[lane],
                .duration(.milliseconds(100) ... .seconds(7 * 86_400)),
                "Target age for starting a \(lane.rawValue) job. It changes no scheduling: lagwatch reports the lane as late if its oldest job is older, and alerts use it."
            )
        } + [
            SettingKey(
                "lanes.slow.concurrency", \.lanes.slow.concurrency, .whole(0...1024),
                "Concurrent renders of slow jobs in a worker. 0: half of render.processes, at least one. lanes.slow.fetches limits slow fetches."
            ),
            SettingKey(
                "lanes.slow.fetches", \.lanes.slow.fetches, .whole(0...1024),
                "Concurrent fetches for slow jobs in a worker, over all hosts, including redirects. 1 fetches a worker's slow jobs one after the other. 0: at most three quarters of fetch.concurrency."
            ),
            SettingKey(
                "lanes.slow.maxWait", \.lanes.slow.maxWait, .duration(.seconds(1) ... .seconds(86_400)),
                "Wait after which a slow job is fetched and rendered even while fast jobs wait, one such job at a time."
            ),
        ]

    private static let fetchKeys: [SettingKey] = [
        SettingKey(
            "fetch.concurrency", \.fetch.concurrency, .whole(1...1024),
            "Concurrent fetches of a worker (fetch permits). One host uses at most half of them, and no more than origins.concurrency. Fetched sources that wait for rendering count too. A fetch that takes longer than a second releases its permit; up to as many such slow fetches may run in addition."
        )
    ]

    private static let workKeys: [SettingKey] = [
        SettingKey(
            "retry.attempts", \.retry.attempts, .whole(0...100),
            "Attempts before a job becomes a dead letter. 0: if the origin fails, retries continue until retry.retryFor; if anything else fails, such as the render, five attempts."
        ),
        SettingKey(
            "retry.retryFor.fast", \.retry.retryFor.fast, .duration(.zero ... .seconds(86_400)),
            "Time of origin failures after which a fast job continues as a slow job."),
        SettingKey(
            "retry.retryFor.slow", \.retry.retryFor.slow, .duration(.zero ... .seconds(30 * 86_400)),
            "Time of origin failures after which a job of either lane becomes a dead letter. A job's retryFor overrides it, but not the time after which a fast job continues as a slow one."
        ),
        SettingKey(
            "retry.base", \.retry.base, .duration(.milliseconds(1) ... .seconds(3600)),
            "Delay before the first retry; it doubles with each further retry."),
        SettingKey(
            "retry.cap", \.retry.cap, .duration(.milliseconds(1) ... .seconds(86_400)),
            "Maximum delay before a retry."),
    ]

    private static let runKeys: [SettingKey] = [
        SettingKey(
            "canonical.aliases", \.canonical.aliases, .aliasGroups,
            "Groups of hosts that serve the same images under the same paths."),
        SettingKey(
            "canonical.volatile", \.canonical.volatile, .parameterNames,
            "Query parameters that never change the image, such as signatures and expiry times. Give full names: patterns such as utm_* are refused."
        ),
        SettingKey(
            "canonical.dialects", \.canonical.dialects, .flag,
            "Whether transform URLs (\(URLDialect.allCases.map(\.name).joined(separator: ", "))) are split into a source and a variant."
        ),
        SettingKey(
            "canonical.roundSizes", \.canonical.roundSizes, .flag,
            "Whether sizes and qualities given in jobs are rounded to fixed steps, as those of transform URLs are."),
        SettingKey(
            "canonical.defaultQuality", \.canonical.defaultQuality, .whole(1...100),
            "JPEG and WebP quality of variants that name none."),
        SettingKey(
            "canonical.defaultAVIFQuality", \.canonical.defaultAVIFQuality, .whole(1...100),
            "AVIF quality of variants that name none. Its scale differs from JPEG's."),

        SettingKey(
            "worker.readAhead", \.worker.readAhead, .whole(16...1_000_000),
            "Maximum unfinished jobs of a partition that a worker has read."),
        SettingKey(
            "worker.drain", \.worker.drain, .duration(.zero ... .seconds(3600)),
            "Time in which a stopping worker finishes its running jobs. If a hanging disk or thread keeps it from ending, it exits 15 s later with status 1, and its log names what hung."
        ),
        SettingKey(
            "worker.standstill", \.worker.standstill, .duration(.seconds(1) ... .seconds(86_400)),
            "If a source is being fetched, rendered, stored or looked up for this long, /healthz fails and reports it, even if other sources make progress. The minimum is three times the longer of fetch.timeouts.total and render.deadline; the default rises with it. Waits for brokers, permits and retry times do not count."
        ),

        SettingKey(
            "logging.level", \.logging.level,
            .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
            "Lowest severity of messages to log."),

        SettingKey(
            "metrics.listen", \.metrics.listen, .listenAddress,
            "Address at which the worker serves metrics and health over HTTP, to any client that can reach it: /metrics, /healthz, /readyz. Port 0 uses a free port, which the worker logs. Empty: disabled."
        ),

        SettingKey(
            "watch.workers", \.watch.workers,
            .list(of: "hosts and ports such as worker-1:9464 or 127.0.0.1:9464", { WorkerAddress($0) }),
            "Workers that mezzotint-lagwatch reads metrics from, at the addresses of their metrics.listen. If a name has several addresses, such as a Kubernetes headless service, each one is read. Empty: lagwatch shows only data from the log and the group."
        ),
        SettingKey(
            "watch.hosts", \.watch.hosts, .list(of: "names, or *.example.com", { HostPattern($0) }),
            "Host names under which mezzotint-lagwatch serves its page, in addition to localhost and addresses. Requests for other names are refused, because an untrusted site could point its name at this server."
        ),

        SettingKey(
            "traces.endpoint", \.traces.endpoint, .collector,
            "Collector URL for spans of jobs, sent as OTLP over HTTP in JSON, such as http://127.0.0.1:4318/v1/traces. Empty: disabled."
        ),
        SettingKey(
            "traces.share", \.traces.share, .number(0...1),
            "Share of jobs without a traceparent that are sampled. For a job with one, its publisher's sampling flag decides."
        ),
    ]
}
