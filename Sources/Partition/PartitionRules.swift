package import Planning
package import VariantSpec

/// What a partition's decisions depend on.
package struct PartitionRules: Sendable {
    package var reuse: ReuseRules
    package var retry: RetryPolicy
    /// How long a stored variant counts as fresh, milliseconds.
    package var maxAge: Int64
    /// A job that has run so long while later ones are done goes to the retry topic, milliseconds: a committable offset that
    /// stands still looks like a stall to those who watch lag.
    package var holdLimit: Int64
    /// Waiting retries kept in memory, for each partition.
    package var retryHeap: Int
    /// How long the retry topic is left unread when more wait than are kept, milliseconds.
    package var retryRest: Int64 = 10_000
    /// Of `auto`, once its format is chosen.
    package var qualities: DefaultQualities

    package init(
        reuse: ReuseRules, retry: RetryPolicy = RetryPolicy(), maxAge: Int64 = 7 * 86_400_000,
        holdLimit: Int64 = 30_000,
        retryHeap: Int = 1_250, qualities: DefaultQualities = DefaultQualities()
    ) {
        self.qualities = qualities
        (self.reuse, self.retry, self.maxAge, self.holdLimit, self.retryHeap) = (
            reuse, retry, maxAge, holdLimit, retryHeap
        )
    }
}
