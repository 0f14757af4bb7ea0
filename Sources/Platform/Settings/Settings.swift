package import Access
package import Canonical
package import EmbeddedLog
internal import HTTP
package import ImageModel
package import KafkaSetup
package import Origin
package import RendererPool

/// All settings with their effective defaults: each adapter gets all values from here, independent of its own defaults.
///
/// `Settings.keys` is the table of their names, ranges and meanings.
package struct Settings: Sendable, Equatable {
    package var data = "data"
    package var log = EmbeddedLogSettings()
    /// The cluster that holds the log, unless it is embedded.
    package var kafka = KafkaConfiguration()
    package var jobs = Jobs()
    package var lanes = Lanes()
    package var fetch = Fetch()
    package var origins = Origins()
    package var retry = Retry()
    package var render = RendererSettings()
    package var store = Store()
    package var reuse = Reuse()
    package var canonical = Canonical()
    package var worker = Worker()
    package var logging = Logging()
    package var metrics = Metrics()
    package var watch = Watch()
    package var traces = Traces()

    package init() {}

    /// Job authentication.
    package struct Jobs: Sendable, Equatable {
        /// Keys that sign jobs; empty: every client that can write to the log may publish.
        package var keys: [JobKey] = []
        /// Id of the key that signs; empty: the first.
        package var sign = ""
        package var signWith: String { sign.isEmpty ? keys.first?.id ?? "" : sign }
        /// Problems of the keys. Only programs that sign or check them: others may lack the right to read the secrets.
        package var problems: [(key: String, message: String)] {
            keys.compactMap { key in key.problem.map { ("jobs.keys", "key '\(key.id)': \($0)") } }
        }
    }

    /// Sharing between the slow lane and the fast one.
    package struct Lanes: Sendable, Equatable {
        package var targets = ByLane(\.target)
        package var slow = Slow()
        package struct Slow: Sendable, Equatable {
            /// Concurrent slow renders; 0: half of the render processes, at least one.
            package var concurrency = 0
            /// Concurrent slow fetches; 0: as many as fast ones leave, less a quarter of the fetch permits.
            package var fetches = 0
            package var maxWait = Duration.seconds(60)
        }
    }

    /// Fetching of sources.
    package struct Fetch: Sendable, Equatable {
        package var concurrency = 32
        package var origin = OriginSettings()
    }

    /// Retries after temporary failures.
    package struct Retry: Sendable, Equatable {
        /// Attempts; 0: see `RetryPolicy.attempts`.
        package var attempts = 0
        package var retryFor = RetryFor()
        package var base = Duration.seconds(1)
        package var cap = Duration.seconds(600)
        package struct RetryFor: Sendable, Equatable {
            package var fast = Duration.seconds(60)
            package var slow = Duration.seconds(86_400)
        }
    }

    /// Rules that decide which URLs are one source, and which URLs are variants.
    package struct Canonical: Sendable, Equatable {
        package var aliases: [HostAliasGroup] = []
        package var volatile: [String] = []
        package var dialects = true
        package var roundSizes = false
        package var defaultQuality = 80
        package var defaultAVIFQuality = 63
    }

    /// Reading, draining and liveness of a worker.
    package struct Worker: Sendable, Equatable {
        package var readAhead = 256
        package var drain = Duration.seconds(20)
        package var standstill = Duration.seconds(300)
    }

    /// Logging of the programs.
    package struct Logging: Sendable, Equatable {
        package var level = "info"
    }

    /// Export of spans.
    package struct Traces: Sendable, Equatable {
        /// Collector's URL; empty: disabled.
        package var endpoint = ""
        /// Collector's URL as shown to people.
        package var shownEndpoint: String { ShownURL(endpoint).withoutQuery }
        /// Sampled share of jobs whose publisher sets no trace.
        package var share = 0.01
    }

    /// Metrics and health of the worker.
    package struct Metrics: Sendable, Equatable {
        /// Address to listen on; nil: disabled.
        package var listen: ListenAddress?
    }

    /// Workers that `mezzotint-lagwatch` reads from, and host names under which it serves.
    package struct Watch: Sendable, Equatable {
        package var workers: [WorkerAddress] = []
        package var hosts: [HostPattern] = []
    }
}

extension Settings {
    package var canonicalRules: CanonicalRules {
        CanonicalRules(
            aliasGroups: canonical.aliases, originGroups: originGroups, volatileParameters: canonical.volatile,
            dialects: canonical.dialects ? Set(URLDialect.allCases) : [], roundSizes: canonical.roundSizes,
            defaultQuality: canonical.defaultQuality, defaultAVIFQuality: canonical.defaultAVIFQuality)
    }

    package var logDirectory: String { data + "/log" }
    package var indexDirectory: String { data + "/index" }

    /// The smallest `worker.standstill`, and the setting that determines it: a slow origin or image is no standstill.
    var leastStandstill: (Duration, setting: String) {
        fetch.origin.deadlines.whole >= render.deadline
            ? (fetch.origin.deadlines.whole * 3, "fetch.timeouts.total") : (render.deadline * 3, "render.deadline")
    }
    package var standstill: Duration { max(worker.standstill, leastStandstill.0) }

    package func renderProcesses(cores: Int) -> Int { render.processes > 0 ? render.processes : max(1, cores) }

    package func slowConcurrency(cores: Int) -> Int {
        lanes.slow.concurrency > 0 ? lanes.slow.concurrency : max(1, renderProcesses(cores: cores) / 2)
    }
}
