package import Canonical
package import Jobs
internal import Partition
package import Permits
package import Ports
package import Records

/// Settings of the runtime itself. The adapters have their own configurations.
package struct WorkerConfiguration: Sendable {
    package var partition: PartitionRules
    package var permits: PermitRules
    package var canonical: CanonicalRules
    /// Maximum number of accepted, unfinished records of one topic-partition.
    package var readAhead: Int
    /// Maximum size in bytes of sources that are kept as originals.
    package var originalsLimit: Int
    /// Whether rows are bound to the configured store although they are bound to another.
    package var adoptsStore = false
    /// Keys of clients. Jobs that none of these has signed are dead. nil: every client that can write to the topics is
    /// accepted.
    package var keys: JobKeys?
    /// nil: spans are not exported.
    package var traces: TraceSink?
    /// How long running work may take to finish once the worker is told to stop.
    package var drain: Duration
    /// Time without any progress after which a worker counts as hung.
    package var standstill = Duration.seconds(300)
    /// Whether the worker ends when nothing is left to do.
    package var untilIdle: Bool
    /// Jobs that become due later than this are then left; nil: none are.
    package var patience: Duration?
    /// Whether the worker shares the state of hosts with others.
    package var tellsOrigins = false
    /// Seed of the jitter of retries.
    package var seed: UInt64
    /// Name of the worker for operators: host and process.
    package var owner: String

    package init(
        partition: PartitionRules, permits: PermitRules, canonical: CanonicalRules, readAhead: Int = 256,
        originalsLimit: Int = 1 << 20, drain: Duration = .seconds(20), untilIdle: Bool = false,
        seed: UInt64, owner: String
    ) {
        (self.partition, self.permits, self.canonical) = (partition, permits, canonical)
        (self.readAhead, self.originalsLimit, self.drain) = (max(1, readAhead), originalsLimit, drain)
        (self.untilIdle, self.seed, self.owner) = (untilIdle, seed, owner)
        self.partition.hostShare = max(1, self.readAhead / 4)
        self.partition.origins = permits.origins
    }
}

/// The adapters that a worker runs on.
package struct WorkerPorts: Sendable {
    package let log: any Log
    package let consumer: any LogConsumer
    package let fetcher: any Fetcher
    package let renderer: any Renderer
    package let store: any BlobStore
    package let indexes: any VariantIndexes
    package let time: any TimeSource
    /// Executor of tasks that are on no actor; nil for Swift's own threads.
    package let tasks: (any TaskExecutor)?

    package init(
        log: any Log, consumer: any LogConsumer, fetcher: any Fetcher, renderer: any Renderer, store: any BlobStore,
        indexes: any VariantIndexes, time: any TimeSource = SystemTimeSource(), tasks: (any TaskExecutor)? = nil
    ) {
        (self.time, self.tasks) = (time, tasks)
        (self.log, self.consumer, self.fetcher) = (log, consumer, fetcher)
        (self.renderer, self.store, self.indexes) = (renderer, store, indexes)
    }
}
