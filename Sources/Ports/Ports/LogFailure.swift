package import Failures
package import Records

/// Reason why a log operation failed.
package enum LogFailure: CodedFailure, Hashable {
    /// Resource that publishers have used up, with sizes in bytes.
    package enum Shortage: Sendable, Hashable, CustomStringConvertible {
        case limit(used: Int, most: Int)
        case disk(free: Int, kept: Int)

        package var description: String {
            switch self {
            case .limit(let used, let most):
                "\(LogFailure.size(used)) of its file are in use by jobs, kept outcomes, rows and dead letters, "
                    + "and publishers may fill \(LogFailure.size(most)) (log.byteLimit less log.reserve). "
                    + "Let the worker finish the pending jobs; if there are none, raise log.byteLimit or lower log.outcomesKept"
            case .disk(let free, let kept):
                "its disk has \(LogFailure.size(free)) free, and \(LogFailure.size(kept)) are kept for the worker "
                    + "(log.reserve, and 6 KiB for each job that waits). "
                    + "Let the worker finish the pending jobs; if there are none, free disk space, or lower log.reserve or log.outcomesKept"
            }
        }
    }

    /// Why a log's file cannot be used.
    package enum Trouble: Sendable, Hashable {
        case access
        /// A newer program wrote it.
        case version
        /// It could be opened, but its content is damaged.
        case damage
    }

    case locked(path: String, by: String)
    case unreadable(path: String, reason: String, Trouble)
    case full(path: String)
    /// The log's disk is nearly full: the log hands out no jobs before `until` bytes are free.
    case halted(path: String, until: Int)
    /// The remaining space is reserved for the worker.
    case reserved(path: String, Shortage)
    case tooLarge(topic: Topic, bytes: Int, limit: Int)
    case unavailable(reason: String)
    case denied(reason: String)
    case misconfigured(problems: [String])
    /// `remedy`: sentence on how to solve the problems; empty if the problems say so themselves.
    case topics(problems: [String], remedy: String)
    /// The topic's log is not the log that was read: it was recreated, or truncated.
    case recreated(topic: Topic, partition: PartitionID, LogBreak)
    /// The embedded log's file is not the file that was opened.
    case replaced(path: String)
    /// Retention removed records that no worker had read.
    case expired(topic: Topic, partition: PartitionID, count: Int64, first: Int64)
    /// A transaction stays open, and the jobs that it hides were not run.
    case hidden(topic: Topic, partition: PartitionID, offset: Int64, count: Int64, tools: ToolTopic?)
    /// Partitions that were added to topics hold records, and the jobs in them were not run.
    case unread([GrownTopic])
    /// A pause holds back jobs for longer than a run until idle waits.
    case paused(Pause)
    case closed

    package var kind: Code {
        switch self {
        case .locked: .locked
        case .unreadable: .unreadable
        case .full, .halted, .reserved: .full
        case .tooLarge: .tooLarge
        case .unavailable: .unavailable
        case .denied: .denied
        case .misconfigured: .misconfigured
        case .topics: .topics
        case .recreated: .recreated
        case .replaced: .replaced
        case .expired: .expired
        case .hidden: .hidden
        case .unread: .unread
        case .paused: .paused
        case .closed: .closed
        }
    }

    package var description: String {
        switch self {
        case .locked(let path, let by):
            "Another worker (\(by)) holds the log at \(path). Stop it first, or give this one a data directory of its own (--set data=DIR)."
        case .unreadable(let path, let reason, .access):
            "The log at \(path) cannot be opened: \(reason). Set data to a directory that this user can create, read and write."
        case .unreadable(let path, let reason, .version):
            "The log at \(path) cannot be opened: \(reason). Use the programs of the version that wrote it, or newer ones."
        case .unreadable(let path, let reason, .damage):
            "The log at \(path) cannot be read: \(reason). Restore the file from a backup made by 'mezzotint log backup FILE' (a copy of log.sqlite without its log.sqlite-wal is not a backup). Without one, move the log's folder away, run 'mezzotint topics restore', which creates a log with the rows of the indexes, start the worker, and publish again each job that has no outcome."
        case .full(let path):
            "There is no space left for the log at \(path). Free some, or start the worker with a lower log.outcomesKept; nothing that was acknowledged is lost."
        case .halted(let path, let bytes):
            "The disk of the log at \(path) is nearly full: the worker takes no more jobs, and finishes its current ones. Free some space on that disk. The worker continues by itself when \(LogFailure.size(bytes)) are free. Nothing is lost meanwhile."
        case .reserved(let path, let shortage):
            "The log at \(path) takes no more jobs: \(shortage). Nothing that it accepted is lost."
        case .tooLarge(let topic, let bytes, let limit):
            "A record of \(bytes) bytes is over the \(limit) that \(topic.rawValue) takes. Make it smaller."
        case .unavailable(let reason):
            "The job log is unavailable: \(reason). Check kafka.bootstrap and that the brokers are running (data for an embedded log)."
        case .denied(let reason):
            "The log refuses this client: \(reason). Check the user, the password and what that user may do (kafka.security)."
        case .misconfigured(let problems):
            "The log cannot be used as configured. \(problems.joined(separator: " "))"
        case .topics(let problems, let remedy):
            (problems + (remedy.isEmpty ? [] : [remedy])).joined(separator: " ")
        case .recreated(let topic, let partition, let why):
            "\(topic.rawValue), partition \(partition), is not the log that was read: \(why.reason). The topic was recreated or truncated. "
                + Self.remedy(recreated: topic)
        case .replaced(let path):
            "The log at \(path) was removed, replaced or emptied while it was in use. Jobs published since, and jobs pending in it, are lost: start again, and publish those jobs once more. Stop all workers and publishers before a log is removed or restored, and restore the whole folder."
        case .expired(let topic, let partition, let count, let first):
            "Retention removed at least \(count) unread records of \(topic.rawValue), partition \(partition); the first that is left is \(first). Publish those jobs again, and give the topic a longer retention or the group more workers."
        case .hidden(let topic, let partition, let offset, let count, let tools):
            "An open transaction hides \(count) offsets of \(topic.rawValue), partition \(partition), from offset \(offset) on, and their jobs are not done. "
                + Self.endTransaction(tools, topic, partition, offset) + " Then run the worker again."
        case .unread(let topics):
            "No worker reads "
                + topics.map {
                    "\($0.unread.map { "\($0)" } ?? "an unknown number of") records of \($0.topic.rawValue) in partitions \($0.used) to \($0.partitions - 1)"
                }.joined(separator: ", ")
                + ", which were added, and their jobs are not done. Run 'mezzotint topics check': it prints how to give every topic the same number of partitions. Then run the worker again."
        case .paused(let pause):
            "\(pause), and jobs wait. Run the worker again then, or end the pause with 'mezzotint resume'."
        case .closed:
            "The log is closed. The worker is stopping."
        }
    }

    static func size(_ bytes: Int) -> String {
        bytes < 10 << 20 ? "\(max(0, bytes) >> 10) KiB" : "\(bytes >> 20) MiB"
    }

    private static func endTransaction(
        _ tools: ToolTopic?, _ topic: Topic, _ partition: PartitionID, _ offset: Int64
    ) -> String {
        let command = "kafka-transactions.sh" + (tools.map { " --bootstrap-server \($0.bootstrap)" } ?? "")
        let place = "--topic \(tools?.name ?? topic.rawValue) --partition \(partition)"
        return
            "Find its producer: \(command) describe-producers \(place). End it, or abort the transaction: \(command) abort \(place) --start-offset \(offset)."
    }

    private static func remedy(recreated topic: Topic) -> String {
        switch topic {
        case .variants, .parked:
            "The partition is stopped and its jobs wait. Stop all workers, run 'mezzotint topics restore', which publishes the rows of their indexes again, and start the workers."
        default: "It is read from its beginning; jobs that were deleted with the old log must be published again."
        }
    }

    package enum Code: String, FailureCode {
        case locked = "log.locked"
        case unreadable = "log.unreadable"
        case full = "log.full"
        case tooLarge = "log.too-large"
        case unavailable = "log.unavailable"
        case denied = "log.denied"
        case misconfigured = "log.misconfigured"
        case topics = "log.topics"
        case recreated = "log.recreated"
        case replaced = "log.replaced"
        case expired = "log.expired"
        case hidden = "log.hidden"
        case unread = "log.unread"
        case paused = "log.paused"
        case closed = "log.closed"

        package var meaning: String {
            switch self {
            case .locked: "Another worker holds the embedded log."
            case .unreadable: "The log's file cannot be opened or read."
            case .full:
                "No space is left for the log, or none that publishers may take (`log.byteLimit`, `log.reserve`)."
            case .tooLarge: "A record is larger than its topic accepts."
            case .unavailable: "The job log does not respond now."
            case .denied: "The log refuses this client, or refuses it this operation."
            case .misconfigured: "The log cannot be used as configured."
            case .topics: "A topic is missing, or is not as it must be."
            case .recreated:
                "A topic was recreated or truncated. A job topic is read from its beginning; for `variants` and `parked` the partition stops until `mezzotint topics restore`."
            case .replaced: "The embedded log's file was removed, replaced or emptied during use; the program ends."
            case .expired: "Retention removed records that no worker had read."
            case .hidden: "An open transaction hides records; a run until idle ends without them."
            case .paused: "A run until idle ended while a pause held back jobs (`mezzotint pause`)."
            case .unread:
                "Partitions that were added to a topic hold records that no worker reads; a run until idle ends without them."
            case .closed: "The log was closed during an operation."
            }
        }

        package var verdict: Verdict {
            switch self {
            case .locked, .unreadable, .full, .unavailable, .denied, .misconfigured, .topics, .recreated, .replaced,
                .expired, .hidden, .unread, .paused, .closed:
                .wait
            case .tooLarge: .fail
            }
        }
    }
}
