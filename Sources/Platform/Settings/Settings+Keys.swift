internal import Access
internal import Canonical
internal import ImageModel
internal import KafkaSetup
internal import Origin
internal import RendererPool
internal import SettingTypes
internal import Store
internal import VariantSpec

extension Settings {
    /// The one table of keys: it feeds the reader, the environment, `--set`, the reference page and the test of `config/*`.
    package static let keys: [SettingKey] = [
        placeKeys, kafkaKeys, jobKeys, laneKeys, fetchKeys, fetcherKeys, workKeys, renderKeys, fileStoreKeys, storeKeys,
        originKeys,
    ].flatMap(\.self)

    // The rows of these live beside their adapters.
    private static let kafkaKeys: [SettingKey] = KafkaConfiguration.rows.map { $0.lifted(to: \.kafka) }
    private static let renderKeys: [SettingKey] = RendererSettings.rows.map { $0.lifted(to: \.render) }
    private static let fetcherKeys: [SettingKey] = OriginSettings.rows.map { $0.lifted(to: \.fetch.origin) }
    private static let fileStoreKeys: [SettingKey] = FileStoreSettings.rows.map { $0.lifted(to: \.store.files) }

    private static let placeKeys: [SettingKey] = [
        SettingKey(
            "data", \.data, .path(allowsEmpty: false),
            "The directory of the embedded log, the indexes and, unless store.directory says otherwise, the store. In a file: relative to the file's folder; else to the working directory."
        ),

        SettingKey(
            "log.partitions", \.log.partitions, .whole(1...256),
            "Partitions of every topic of the embedded log. Fixed when the log is created."),
        SettingKey(
            "log.outcomesKept", \.log.outcomesKept, .whole(0...100_000_000),
            "How many outcomes the embedded log keeps for readers."),
        SettingKey(
            "log.byteLimit", \.log.byteLimit, .size(1 << 20...1 << 44),
            "What publishers may fill of the embedded log's file, less log.reserve; then they are refused (log.full) until the worker has made room. Kept outcomes, rows and dead letters count, too. The worker itself is not bound by it."
        ),
        SettingKey(
            "log.reserve", \.log.reserve, .size(0...64 << 30),
            "Room that publishers leave to the worker for outcomes, rows, retries and dead letters, and 6 KiB more for each job that waits: with less free on the log's disk they are refused (log.full). As much again, and of the 6 KiB what the disk has room for, is held by the file reserve beside the log, which the worker gives up piece by piece when the disk is full all the same, and takes again when there is room. 0B: none."
        ),
    ]

    private static let jobKeys: [SettingKey] = [
        SettingKey(
            "jobs.keys", \.jobs.keys, .jobKeys,
            "Keys that jobs are signed with. With them mezzotint publish signs, and workers take signed jobs alone: others are dead letters. Of several each is taken, so that one can follow another. A secret has 16 bytes at least, on one line."
        ),
        SettingKey(
            "jobs.sign", \.jobs.sign, .text,
            "The id of the key that mezzotint publish signs with. Empty: the first of jobs.keys."),
    ]

    private static let laneKeys: [SettingKey] =
        Lane.allCases.map { lane in
            SettingKey(
                "lanes.\(lane.rawValue).target", \.lanes.targets[lane],
                .duration(.milliseconds(100) ... .seconds(7 * 86_400)),
                "The age within which a \(lane.rawValue) job should be begun. Nothing is done differently for it: lagwatch calls a lane late whose oldest job is older, and alerts go by it."
            )
        } + [
            SettingKey(
                "lanes.slow.concurrency", \.lanes.slow.concurrency, .whole(0...1024),
                "Slow renders at once in a worker. 0: half of render.processes, at least one. lanes.slow.fetches limits slow fetches."
            ),
            SettingKey(
                "lanes.slow.fetches", \.lanes.slow.fetches, .whole(0...1024),
                "Slow fetches at once in a worker, over all hosts, with each redirect. 1 fetches the slow jobs of a worker one after the other. 0: slow fetches take three quarters of fetch.concurrency at most."
            ),
            SettingKey(
                "lanes.slow.maxWait", \.lanes.slow.maxWait, .duration(.seconds(1) ... .seconds(86_400)),
                "A slow job that has waited this long is fetched and rendered even while fast ones wait, one such job after the other."
            ),
        ]

    private static let fetchKeys: [SettingKey] = [
        SettingKey(
            "fetch.concurrency", \.fetch.concurrency, .whole(1...1024),
            "Fetches at once: the fetch permits of the worker. One host holds at most half of them, and no more than origins.concurrency. What was fetched and waits for its render counts too. A fetch that takes longer than a second leaves its permit to others; as many such fetches may run beside those that hold permits."
        )
    ]

    private static let workKeys: [SettingKey] = [
        SettingKey(
            "retry.attempts", \.retry.attempts, .whole(0...100),
            "How often a job is tried before it is set aside as a dead letter. 0: where its origin is at fault, for as long as retry.giveUp says; where something else is (its render, say), five times."
        ),
        SettingKey(
            "retry.giveUp.fast", \.retry.giveUp.fast, .duration(.zero ... .seconds(86_400)),
            "A fast job whose origin has been at fault for so long goes on as a slow one."),
        SettingKey(
            "retry.giveUp.slow", \.retry.giveUp.slow, .duration(.zero ... .seconds(30 * 86_400)),
            "A job whose origin has been at fault for so long is set aside as a dead letter, whichever its lane. A job's giveUp says another time; when a fast job goes on as a slow one is the same for all."
        ),
        SettingKey(
            "retry.base", \.retry.base, .duration(.milliseconds(1) ... .seconds(3600)),
            "The first wait before another try; it doubles from try to try."),
        SettingKey(
            "retry.cap", \.retry.cap, .duration(.milliseconds(1) ... .seconds(86_400)),
            "The longest wait before another try."),
    ]

    private static let storeKeys: [SettingKey] = [
        SettingKey(
            "store.adopt", \.store.adopt, .flag,
            "Whether a worker goes on with the store that is there, though the log's rows are bound to another one or its folder is empty (store.foreign). For one start: several workers over different folders would never be told."
        ),
        SettingKey(
            "store.maxAge", \.store.maxAge, .duration(.seconds(1) ... .seconds(3650 * 86_400)),
            "How long what is stored counts as fresh where its origin does not say, origins.freshness.ceiling at most and up to a tenth shorter. A source behind a temporary redirect (302, 303, 307) that does not say is asked for with each job, origins.freshness.floor apart."
        ),
        SettingKey(
            "store.originals.limit", \.store.originalsLimit, .size(0...4 << 30),
            "The largest source whose original is kept: the best donor. 0B keeps none."),

        SettingKey("reuse.enabled", \.reuse.enabled, .flag, "Whether a stored variant may stand in for its source."),
        SettingKey(
            "reuse.lossBudget", \.reuse.lossBudget, .number(0...100),
            "The most mean loss, in SSIMULACRA2 points, that reuse may cost. Sources other than JPEG and HEIC count as drawings: their stored variants are reused only if nothing is resampled."
        ),
        SettingKey(
            "reuse.allowStale", \.reuse.allowStale, .flag,
            "Whether stale variants are answered and reused, however old they are, and also those chosen by other request headers (`Vary`)."
        ),

        SettingKey(
            "canonical.aliases", \.canonical.aliases, .aliasGroups,
            "Groups of hosts that serve the same images under the same paths."),
        SettingKey(
            "canonical.volatile", \.canonical.volatile, .parameterNames,
            "Query parameters that never change the image, such as signatures and expiry stamps, each by its full name: patterns such as utm_* are refused."
        ),
        SettingKey(
            "canonical.dialects", \.canonical.dialects, .flag,
            "Whether URLs that transform (\(URLDialect.allCases.map(\.name).joined(separator: ", "))) become a source and a variant."
        ),
        SettingKey(
            "canonical.specTiers", \.canonical.specTiers, .flag,
            "Whether sizes and qualities written out in a job go to tiers, as those of dialect URLs do."),
        SettingKey(
            "canonical.defaultQuality", \.canonical.defaultQuality, .whole(1...100),
            "The quality of a variant that names none, in JPEG and WebP."),
        SettingKey(
            "canonical.defaultAVIFQuality", \.canonical.defaultAVIFQuality, .whole(1...100),
            "The quality of an AVIF that names none; its scale is another than JPEG's."),

        SettingKey(
            "worker.readAhead", \.worker.readAhead, .whole(16...1_000_000),
            "Jobs of a partition that are read and unfinished at once."),
        SettingKey(
            "worker.drain", \.worker.drain, .duration(.zero ... .seconds(3600)),
            "How long a worker that was told to stop finishes what runs. One that a hanging disk or thread keeps from its end is ended 15 s later, with status 1; its log says what hung."
        ),
        SettingKey(
            "worker.standstill", \.worker.standstill, .duration(.seconds(1) ... .seconds(86_400)),
            "If a source is being fetched, rendered, stored or looked up for this long, /healthz fails and reports it, even if other sources make progress. The minimum is three times the longer of fetch.deadlines.whole and render.deadline; the default rises with it. Waits for brokers, permits and retry times do not count."
        ),

        SettingKey(
            "logging.level", \.logging.level,
            .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
            "The least severe message that is written."),

        SettingKey(
            "metrics.listen", \.metrics.listen, .listenAddress,
            "Where the worker serves its metrics and its health over HTTP, to whoever can reach it: /metrics, /healthz, /readyz. Port 0 takes a free one, which the log tells. Empty: nowhere."
        ),

        SettingKey(
            "watch.workers", \.watch.workers,
            .list(of: "hosts and ports such as worker-1:9464 or 127.0.0.1:9464", { WorkerAddress($0) }),
            "Workers whose metrics mezzotint-lagwatch asks for: where metrics.listen says that they serve them. A name with several addresses, such as that of a Kubernetes headless service, is asked at each. Without them it tells what the log and the group tell."
        ),
        SettingKey(
            "watch.hosts", \.watch.hosts, .list(of: "names, or *.example.com", { HostPattern($0) }),
            "Names by which mezzotint-lagwatch may be asked, besides localhost and addresses: a page of another name could be a stranger's that leads here."
        ),

        SettingKey(
            "traces.endpoint", \.traces.endpoint, .collector,
            "Where spans of jobs go, as OTLP over HTTP in JSON: a collector's URL, such as http://127.0.0.1:4318/v1/traces. Empty: nowhere."
        ),
        SettingKey(
            "traces.share", \.traces.share, .number(0...1),
            "The share of jobs without a traceparent that have spans. A job that has one is sampled as its publisher says there."
        ),
    ]
}
