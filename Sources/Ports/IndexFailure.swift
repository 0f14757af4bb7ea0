package import Failures

/// Why an index could not be opened, read or written; nothing is lost by it, since the changelog has every row.
package enum IndexFailure: CodedFailure, Hashable {
    case corrupt(path: String, reason: String)
    case unavailable(path: String, reason: String)

    package var kind: Code {
        switch self {
        case .corrupt: .corrupt
        case .unavailable: .unavailable
        }
    }

    package var description: String {
        switch self {
        case .corrupt(let path, let reason):
            "The index \(path) is damaged (\(reason)). It was set aside and is rebuilt from the changelog; its partition's jobs wait for that."
        case .unavailable(let path, let reason):
            "The index \(path) cannot be used: \(reason). Check the data directory and its rights."
        }
    }

    package enum Code: String, FailureCode {
        case corrupt = "index.corrupt"
        case unavailable = "index.unavailable"

        package var meaning: String {
            switch self {
            case .corrupt: "An index file is damaged; it is rebuilt from the changelog."
            case .unavailable: "An index file cannot be opened or written."
            }
        }

        package var verdict: Verdict { .wait }
    }
}
