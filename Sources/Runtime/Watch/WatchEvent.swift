package import Clocks
package import Ports
package import Records

/// What one question from outside was answered.
package enum WatchEvent: Sendable {
    /// Bounds and committed offsets; each place has a result of its own.
    case offsets([Result<PartitionOffsets, LogFailure>], of: [LogPoint])
    /// The log as a whole did not answer.
    /// - Parameter code: of the failure, where it has one.
    case silence(String, code: String? = nil)
    /// No log is there: nothing was published to this place yet.
    case unpublished(String)
    /// Who holds which partition. A partition that is not there is nobody's.
    case owners([PartitionID: String])
    /// All members of the group.
    case members([LogMember])
    /// All of a partition's changelog was looked through for the row of its last owner.
    case searched(PartitionID)
    /// Topics that have more partitions than are used.
    case grown([GrownTopic])
    /// What is wrong with the topics though the brokers answer; nil: nothing.
    case unusableTopics(String?)
    /// When the first record that an open transaction hides was appended; nil where it is none any more.
    case hidden(LogPoint, appended: WallTime?)
    /// When the first record at or after the offset was appended; nil where there is none.
    case head(LogPoint, appended: WallTime?)
    case sample(PlaceSample)
    /// Records of `outcomes`, in their order.
    case ended([JobEnd])
    case letters(LetterChange)
    case epoch(EpochRow)
    case progress(ProgressRow)
    /// Up to when a partition's changelog was read to its end; nil where newer rows are unread.
    case changelog(PartitionID, readAt: WallTime?)
    case workers([WorkerSight])
    /// Where workers are asked: nowhere else is one shown, and each from now on.
    case asked([String])
    /// Rows of `origins` in their order: what workers tell of hosts.
    case hosts([OriginRow])
    /// For how long topics keep records.
    case retention([Topic: Duration])
}

/// A job's end as its outcome tells it; of a job that succeeded the host and the time alone.
package struct JobEnd: Sendable, Hashable {
    package let kind: OutcomeKind
    package let code: String
    package let host: String
    package let message: String
    package let job: String
    /// As people may see it, and cut: it need not lead to the source.
    package let url: String
    /// The source's key; nil where the outcome names none.
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

/// Dead letters that came to a partition's topic, and ids that were taken back there.
package struct LetterChange: Sendable {
    package let partition: PartitionID
    package var added: [Letter] = []
    package var discarded: [String] = []
    /// Whether the topic was read to its end.
    package var isWhole: Bool

    package struct Letter: Sendable, Hashable {
        package let id: String
        package let code: String
        package let host: String
        package let at: WallTime
        /// The record that its bytes came from: jobs of one id are letters of their own.
        package let origin: RecordOrigin
        /// Where it stands in `dead`.
        package let offset: Int64
        package let message: String
        package init(
            id: String, code: String, host: String, at: WallTime, origin: RecordOrigin, offset: Int64,
            message: String = ""
        ) {
            (self.id, self.code, self.host, self.at, self.message) = (id, code, host, at, message)
            (self.origin, self.offset) = (origin, offset)
        }
    }

    package init(_ partition: PartitionID, isWhole: Bool) { (self.partition, self.isWhole) = (partition, isWhole) }
}

/// What the unfinished records of one place are, by a sample of its beginning.
package struct PlaceSample: Sendable {
    package let topic: Topic
    package let partition: PartitionID
    /// Records that were looked at.
    package private(set) var seen = 0
    package private(set) var groups: [Group: Figures] = [:]

    /// The most records of one place that are looked at.
    package static let most = 500

    package struct Group: Sendable, Hashable {
        package let lane: String
        /// Scheme, name and port, or the name of its group; empty where the record names none.
        package let host: String
        /// Why it waits; nil in a lane's own topic.
        package let code: String?
        package init(lane: String, host: String, code: String?) {
            (self.lane, self.host, self.code) = (lane, host, code)
        }
    }

    package struct Figures: Sendable, Hashable {
        package var count = 0
        /// When the first of them came.
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
