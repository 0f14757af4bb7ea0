package import Clocks
package import Ports
package import Records

/// Result of one request to the log, the group or a worker.
package enum WatchEvent: Sendable {
    /// Bounds and committed offsets, with a result for each topic-partition.
    case offsets([Result<PartitionOffsets, LogFailure>], of: [LogPoint])
    /// The log as a whole did not respond.
    ///
    /// - Parameter code: code of the failure, if it has one.
    case silence(String, code: String? = nil)
    /// No log exists: nothing was published at this path yet.
    case unpublished(String)
    /// Owners of partitions. A partition that is missing has none.
    case owners([PartitionID: String])
    /// All members of the group.
    case members([LogMember])
    /// All of a partition's changelog was searched for the row of its last owner.
    case searched(PartitionID)
    /// Topics that have more partitions than are used.
    case grown([GrownTopic])
    /// Fault of the topics although the brokers respond; nil: none.
    case unusableTopics(String?)
    /// Append time of the first record that an open transaction hides; nil if it hides none any more.
    case hidden(LogPoint, appended: WallTime?)
    /// Append time of the first record at or after the offset; nil if there is none.
    case head(LogPoint, appended: WallTime?)
    case sample(PlaceSample)
    /// Records of `outcomes`, in their order.
    case ended([JobEnd])
    case deadLetters(DeadLetterChange)
    case epoch(EpochRow)
    case progress(ProgressRow)
    /// Time up to which a partition's changelog was read to its end; nil if newer rows are unread.
    case changelog(PartitionID, readAt: WallTime?)
    case workers([WorkerSight])
    /// Addresses of the workers that are asked. Only these are shown, each from now on.
    case asked([String])
    /// Rows of `origins` in their order: the state of hosts as workers report it.
    case hosts([OriginRow])
    /// Retention time of topics.
    case retention([Topic: Duration])
}

/// End of a job from its outcome. For a job that succeeded, only the host and the time.
package struct JobEnd: Sendable, Hashable {
    package let kind: OutcomeKind
    package let code: String
    package let host: String
    package let message: String
    package let job: String
    /// URL as it may be shown, and shortened: it need not lead to the source.
    package let url: String
    /// The source's key; nil if the outcome names none.
    package let source: String?
    package let at: WallTime
    package init(
        _ kind: OutcomeKind = .failed, code: String = "", host: String, message: String = "", job: String = "",
        url: String = "", source: String? = nil, at: WallTime
    ) {
        self.kind = kind
        (self.code, self.host, self.message, self.job, self.url) = (code, host, message, job, url)
        (self.source, self.at) = (source, at)
    }
}

/// Dead letters that came to a partition's topic, and the names of the letters that were discarded there.
package struct DeadLetterChange: Sendable {
    package let partition: PartitionID
    package var added: [Entry] = []
    package var discarded: [DeadLetter.Name] = []
    /// Whether the topic was read to its end.
    package var isWhole: Bool

    package struct Entry: Sendable, Hashable {
        package let id: String
        package let code: String
        package let host: String
        package let at: WallTime
        /// Record that its bytes came from. Jobs with the same id have separate dead letters.
        package let origin: RecordOrigin
        /// Times that the job had been replayed when it died.
        package let replays: Int
        /// Offset in `dead`.
        package let offset: Int64
        package let message: String
        package init(
            id: String, code: String, host: String, at: WallTime, origin: RecordOrigin, replays: Int = 0,
            offset: Int64, message: String = ""
        ) {
            (self.id, self.code, self.host, self.at, self.message) = (id, code, host, at, message)
            (self.origin, self.replays, self.offset) = (origin, replays, offset)
        }
    }

    package init(_ partition: PartitionID, isWhole: Bool) { (self.partition, self.isWhole) = (partition, isWhole) }
}

/// Content of the unfinished records of one topic-partition, from a sample of its beginning.
package struct PlaceSample: Sendable {
    package let topic: Topic
    package let partition: PartitionID
    /// Number of examined records.
    package private(set) var seen = 0
    package private(set) var groups: [Group: Figures] = [:]

    /// Maximum records of one topic-partition that are examined.
    package static let most = 500

    package struct Group: Sendable, Hashable {
        package let lane: String
        /// Scheme, name and port, or the name of its group; empty if the record names none.
        package let host: String
        /// Reason why it waits; nil in a lane's own topic.
        package let code: String?
        package init(lane: String, host: String, code: String?) {
            (self.lane, self.host, self.code) = (lane, host, code)
        }
    }

    package struct Figures: Sendable, Hashable {
        package var count = 0
        /// Time when the first of them came.
        package var since = WallTime.distantFuture
        package var message = ""
    }

    package init(_ topic: Topic, _ partition: PartitionID) { (self.topic, self.partition) = (topic, partition) }

    package mutating func count(_ group: Group, since: WallTime, message: String = "") {
        seen += 1
        var figures = groups[group, default: Figures()]
        figures.count += 1
        figures.since = min(figures.since, since)
        if !message.isEmpty { figures.message = message }
        groups[group] = figures
    }
}
