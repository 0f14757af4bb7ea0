package import Access
package import Canonical
internal import HTTP
package import ImageModel
package import KafkaSetup
package import Origin
package import RendererPool
package import Store

/// Everything that can be set, with the defaults that count: each adapter is told all of them, whatever its own
/// configuration begins with.
///
/// `Settings.keys` is the one table of their names, ranges and meanings.
package struct Settings: Sendable, Equatable {
    package var data = "data"
    package var log = Log()
    /// The cluster that holds the log, where it is not embedded.
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

    /// The log's partitions and what it keeps.
    package struct Log: Sendable, Equatable {
        package var partitions = 8
        package var outcomesKept = 100_000
        package var byteLimit = 64 << 30
        package var reserve = 64 << 20
    }

    /// Who may ask for work.
    package struct Jobs: Sendable, Equatable {
        /// Empty: whoever can write to the log.
        package var keys: [JobKey] = []
        /// The id of the one that signs. Empty: the first.
        package var sign = ""
        package var signWith: String { sign.isEmpty ? keys.first?.id ?? "" : sign }
        /// For programs that sign or check: others need not be able to read the secrets.
        package var problems: [(key: String, message: String)] {
            keys.compactMap { key in key.problem.map { ("jobs.keys", "key '\(key.id)': \($0)") } }
        }
    }

    /// How the slow lane shares with the fast one.
    package struct Lanes: Sendable, Equatable {
        package var targets = ByLane(\.target)
        package var slow = Slow()
        package struct Slow: Sendable, Equatable {
            /// 0: half of the render processes, at least one.
            package var concurrency = 0
            /// 0: as many as fast ones leave, less a quarter of the fetch permits.
            package var fetches = 0
            package var maxWait = Duration.seconds(60)
        }
    }

    /// How sources are brought here.
    package struct Fetch: Sendable, Equatable {
        package var concurrency = 32
        package var origin = OriginSettings()
    }

    /// When what failed for now is tried again.
    package struct Retry: Sendable, Equatable {
        /// 0: see `RetryPolicy.attempts`.
        package var attempts = 0
        package var giveUp = GiveUp()
        package var base = Duration.seconds(1)
        package var cap = Duration.seconds(600)
        package struct GiveUp: Sendable, Equatable {
            package var fast = Duration.seconds(60)
            package var slow = Duration.seconds(86_400)
        }
    }

    /// Where variants and originals are kept, and for how long they count as fresh.
    package struct Store: Sendable, Equatable {
        package var files = FileStoreSettings()
        package var adopt = false
        package var maxAge = Duration.seconds(7 * 86_400)
        package var originalsLimit = 1 << 20
    }

    /// Which stored variants may stand in for a source.
    package struct Reuse: Sendable, Equatable {
        package var enabled = true
        package var lossBudget = 4.0
        package var allowStale = false
    }

    /// What makes two URLs one source, and a URL a variant.
    package struct Canonical: Sendable, Equatable {
        package var aliases: [HostAliasGroup] = []
        package var volatile: [String] = []
        package var dialects = true
        package var specTiers = false
        package var defaultQuality = 80
        package var defaultAVIFQuality = 63
    }

    /// How the worker takes up and lays down work.
    package struct Worker: Sendable, Equatable {
        package var readAhead = 256
        package var drain = Duration.seconds(20)
        package var standstill = Duration.seconds(300)
    }

    /// What the programs write about themselves.
    package struct Logging: Sendable, Equatable {
        package var level = "info"
    }

    /// Where spans of jobs go.
    package struct Traces: Sendable, Equatable {
        /// Empty: nowhere.
        package var endpoint = ""
        /// As people may see it.
        package var shownEndpoint: String { ShownURL(endpoint).withoutQuery }
        /// Of the jobs whose publisher says nothing.
        package var share = 0.01
    }

    /// What the worker tells whoever asks.
    package struct Metrics: Sendable, Equatable {
        /// nil: it does not listen.
        package var listen: ListenAddress?
    }

    /// Whom `mezzotint-lagwatch` asks, and by which names it is asked.
    package struct Watch: Sendable, Equatable {
        package var workers: [WorkerAddress] = []
        package var hosts: [HostPattern] = []
    }
}

extension Settings {
    package var canonicalRules: CanonicalRules {
        CanonicalRules(
            aliasGroups: canonical.aliases, originGroups: originGroups, volatileParameters: canonical.volatile,
            dialects: canonical.dialects ? Set(URLDialect.allCases) : [], specTiers: canonical.specTiers,
            defaultQuality: canonical.defaultQuality, defaultAVIFQuality: canonical.defaultAVIFQuality)
    }

    package var logDirectory: String { data + "/log" }
    package var indexDirectory: String { data + "/index" }

    /// The smallest `worker.standstill`, and the setting that it follows: a slow origin or image is not a standstill.
    var leastStandstill: (Duration, setting: String) {
        fetch.origin.deadlines.whole >= render.deadline
            ? (fetch.origin.deadlines.whole * 3, "fetch.deadlines.whole") : (render.deadline * 3, "render.deadline")
    }
    package var standstill: Duration { max(worker.standstill, leastStandstill.0) }

    package func renderProcesses(cores: Int) -> Int { render.processes > 0 ? render.processes : max(1, cores) }

    package func slowConcurrency(cores: Int) -> Int {
        lanes.slow.concurrency > 0 ? lanes.slow.concurrency : max(1, renderProcesses(cores: cores) / 2)
    }
}
