package import Failures
package import Records

/// Reason why an index could not be opened, read or written. No data is lost, because the changelog has every row.
package enum IndexFailure: CodedFailure, Hashable {
    case corrupt(path: String, reason: String)
    /// The index holds the rows of another changelog.
    case mismatched(PartitionID, reason: String)
    case full(path: String)
    case unavailable(path: String, reason: String)

    package var kind: Code {
        switch self {
        case .corrupt: .corrupt
        case .mismatched: .mismatched
        case .full: .full
        case .unavailable: .unavailable
        }
    }

    package var description: String {
        switch self {
        case .corrupt(let path, let reason):
            "The index \(path) is damaged (\(reason)). It was renamed and is rebuilt from the changelog; its partition's jobs wait for that."
        case .mismatched(let partition, let reason):
            "The index of partition \(partition) is not of this log's changelog: \(reason). It is renamed to *.sqlite.mismatched and rebuilt from the changelog; its jobs wait for that. If the topic was recreated, 'mezzotint topics restore' publishes its rows. If the data directory was copied or brought back from a backup, check that its log and its store belong together, too."
        case .full(let path):
            "There is no space left for the index \(path). Free some: its partition's jobs wait for it."
        case .unavailable(let path, let reason):
            "The index \(path) cannot be used: \(reason). Check the data directory and its rights."
        }
    }

    package enum Code: String, FailureCode {
        case corrupt = "index.corrupt"
        case mismatched = "index.mismatched"
        case full = "index.full"
        case unavailable = "index.unavailable"

        package var meaning: String {
            switch self {
            case .corrupt: "An index file is damaged; it is rebuilt from the changelog."
            case .mismatched:
                "An index file holds the rows of another cluster or data directory; it is renamed and rebuilt from the changelog."
            case .full: "No space is left for an index file; its partition's jobs wait."
            case .unavailable: "An index file cannot be opened or written."
            }
        }

        package var verdict: Verdict { .wait }
    }
}
