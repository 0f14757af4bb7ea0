package import Canonical
package import Jobs
internal import Partition
package import Permits
package import Ports
package import Records

/// What the runtime itself is told; the adapters have configurations of their own.
package struct WorkerConfiguration: Sendable {
    package var partition: PartitionRules
    package var permits: PermitRules
    package var canonical: CanonicalRules
    /// Records of one topic's partition taken up and not finished, at most.
    package var readAhead: Int
    /// Sources of at most so many bytes are kept as originals.
    package var originalsLimit: Int
    /// Whether rows are bound to the store that is there, though they are bound to another.
    package var adoptsStore = false
    /// Who may ask: jobs that none of these has signed are dead. nil: whoever can write to the topics.
    package var keys: JobKeys?
    /// nil: nobody wants spans.
    package var traces: TraceSink?
    /// How long running work may take to finish once the worker is told to stop.
    package var drain: Duration
    /// A worker of whose work nothing comes on for so long hangs.
    package var standstill = Duration.seconds(300)
    /// Ends when nothing is left to do.
    package var untilIdle: Bool
    /// Then what becomes due later than this is left; nil: nothing is.
    package var patience: Duration?
    /// Whether it tells others of hosts, and hears of them.
    package var tellsOrigins = false
    /// Of the jitter of retries.
    package var seed: UInt64
    /// For people: host and process.
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
    /// Where tasks run that are on no actor; nil for Swift's own threads.
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
