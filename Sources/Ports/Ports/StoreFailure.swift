package import Failures
package import Records

/// Reason why a blob could not be stored or read.
package enum StoreFailure: CodedFailure, Hashable {
    case full(StorePlace)
    /// The whole store cannot be written.
    case unwritable(StorePlace, reason: String)
    /// The process has no open files or memory left.
    case exhausted(StorePlace, reason: String)
    /// One path cannot be written, although the store can.
    case obstructed(StorePlace, reason: String)
    case unreadable(StorePlace, reason: String)
    /// The store is not the one that rows are bound to. `expected` is nil for rows written before stores had
    /// identities.
    case mismatched(StorePlace, expected: StoreIdentity?, found: StoreIdentity?)

    package var kind: Code {
        switch self {
        case .full: .full
        case .unwritable: .unwritable
        case .exhausted: .exhausted
        case .obstructed: .obstructed
        case .unreadable: .unreadable
        case .mismatched: .mismatched
        }
    }

    package var description: String {
        switch self {
        case .full(let place): "There is no space left in the store at \(place). Free some: jobs wait for it."
        case .unwritable(let place, let reason):
            "\(place) cannot be written: \(reason). \(place.remedies.unwritable)"
        case .exhausted(let place, let reason):
            "\(place) could not be used: \(reason). Give the worker more open files or memory."
        case .obstructed(let place, let reason):
            "\(place) cannot be written: \(reason), though the store can. Remove what stands in its way."
        case .unreadable(let place, let reason):
            "\(place) cannot be read: \(reason). \(place.remedies.unreadable)"
        case .mismatched(let place, let expected, let found):
            "\(place) is not the store that this log's rows name files of: expected \(expected?.description ?? "one from before stores had identities"), found \(found?.description ?? "none"). "
                + (found == nil ? "\(place.remedies.missing) " : "")
                + "Jobs wait. Mount the right store, or start a worker once with store.adopt=true to accept this one."
        }
    }

    package enum Code: String, FailureCode {
        case full = "store.full"
        case unwritable = "store.unwritable"
        case exhausted = "store.exhausted"
        case obstructed = "store.obstructed"
        case unreadable = "store.unreadable"
        case mismatched = "store.mismatched"

        package var meaning: String {
            switch self {
            case .full: "No space is left in the store."
            case .unwritable: "The store cannot be written."
            case .exhausted: "The worker has no open files or memory left for the store."
            case .obstructed: "One path in the store cannot be written, although the store can."
            case .unreadable: "A stored blob cannot be read."
            case .mismatched: "The store is not the store that the index rows belong to; jobs wait (`store.adopt`)."
            }
        }

        package var verdict: Verdict {
            switch self {
            case .full, .unwritable, .exhausted, .mismatched: .wait
            case .obstructed, .unreadable: .retry
            }
        }
    }
}
