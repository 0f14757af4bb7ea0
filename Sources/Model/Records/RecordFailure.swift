package import Failures

/// Reason why a record of Mezzotint's own (not a job) cannot be decoded: another program wrote it, or the log is
/// damaged.
package enum RecordFailure: CodedFailure, Hashable {
    case key(place: String, text: String)
    case value(place: String, reason: String)
    case header(place: String, name: String, reason: String)

    package var kind: Code {
        switch self {
        case .key: .key
        case .value: .value
        case .header: .header
        }
    }

    package var description: String {
        switch self {
        case .key(let place, let text):
            "The record \(place) has the key \"\(text)\", which names no source, variant or epoch. It is left out; find what wrote it."
        case .value(let place, let reason):
            "The record \(place) cannot be read: \(reason). It is left out; find what wrote it."
        case .header(let place, let name, let reason):
            "The header \(name) of the record \(place) cannot be read: \(reason). Find what wrote it."
        }
    }

    package enum Code: String, FailureCode {
        case key = "record.key"
        case value = "record.value"
        case header = "record.header"

        package var meaning: String {
            switch self {
            case .key: "A record's key names no source, variant or epoch."
            case .value: "The body of a row, an outcome or a note is not valid in its topic."
            case .header: "A header that a parked row or a dead letter needs is missing or wrong."
            }
        }

        package var verdict: Verdict { .deadLetter }
    }
}
