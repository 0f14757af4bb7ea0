package import Failures
internal import JSONText

/// Reason why a record of `control` is refused. Nothing is changed by it.
package enum ControlFailure: StageFailure, Hashable {
    case invalid(reason: String)
    /// It names a URL and came to another partition than its source's.
    case misplaced(url: String, key: String)
    case unsigned
    case forged(reason: String)
    /// A signed control that is too old, or whose id was seen before.
    case replayed(reason: String)

    private var kind: Code {
        switch self {
        case .invalid: .invalid
        case .misplaced: .misplaced
        case .unsigned: .unsigned
        case .forged: .forged
        case .replayed: .replayed
        }
    }

    package var code: String { kind.rawValue }
    package var verdict: Verdict { .fail }
    package static let catalogue = Code.catalogue

    /// Whether no statement of the record about itself can be trusted, including its id.
    package var isUntrusted: Bool {
        switch self {
        case .unsigned, .forged: true
        case .invalid, .misplaced, .replayed: false
        }
    }

    package var description: String {
        switch self {
        case .invalid(let reason): "The control has an invalid value: \(reason). Nothing was changed; publish it again, corrected."
        case .misplaced(let url, let key):
            "The control for \(url) is not in the partition of its source. Nothing was changed; publish it with the key \(key)."
        case .unsigned:
            "The control is not signed, and this worker accepts only signed ones (jobs.keys). Publish it with the mezzotint command, or sign it as config/producers.md says."
        case .forged(let reason):
            "The control's signature does not hold: \(reason). Find who published it, or sign as config/producers.md says."
        case .replayed(let reason): "The control is refused as a repeat: \(reason). Publish a new one if it is meant."
        }
    }

    package enum Code: String, FailureCode {
        case invalid = "control.invalid"
        case misplaced = "control.misplaced"
        case unsigned = "control.unsigned"
        case forged = "control.forged"
        case replayed = "control.replayed"

        package var meaning: String {
            switch self {
            case .invalid: "A control record is not valid, so it changed nothing."
            case .misplaced: "A control names a URL and is not in the partition of its source."
            case .unsigned: "A control is not signed, and `jobs.keys` is set."
            case .forged: "A control's signature does not match its body and id."
            case .replayed: "A signed control is older than 10 min, or its id was seen before."
            }
        }

        package var verdict: Verdict { .fail }
    }
}
