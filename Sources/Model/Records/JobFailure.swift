package import Canonical
package import Failures
internal import ImageModel
internal import JSONText

/// Reason why a record does not run as a job and a person must look: a mistake of its producer, or crashes of workers.
package enum JobFailure: StageFailure, Hashable {
    case empty
    case tooLarge(bytes: Int)
    case notJSON(reason: String)
    case missingField(String)
    case unknownField(String)
    case repeatedField(String)
    /// A value of another type than the field's, or out of its range.
    case badValue(reason: String)
    case noVariants(url: SourceURL)
    case tooManyVariants
    case reservedID(String)
    case unsigned
    case unknownKey(String)
    case forged(reason: String)
    /// The URL or a variant has no canonical form.
    case refused(CanonicalFailure)
    /// Workers crashed each time while the job ran.
    case poison(job: String, url: SourceURL)

    /// Most variants of one job.
    package static let variantLimit = 64

    package var code: String {
        let own: Code
        switch self {
        case .refused(let failure): return failure.code
        case .empty: own = .empty
        case .tooLarge: own = .tooLarge
        case .notJSON: own = .notJSON
        case .missingField: own = .missingField
        case .unknownField: own = .unknownField
        case .repeatedField: own = .repeatedField
        case .badValue: own = .badValue
        case .noVariants: own = .noVariants
        case .tooManyVariants: own = .tooManyVariants
        case .reservedID: own = .reservedID
        case .poison: own = .poison
        case .unsigned: own = .unsigned
        case .unknownKey: own = .unknownKey
        case .forged: own = .forged
        }
        return own.rawValue
    }

    package var description: String {
        switch self {
        case .empty: "The job has no body. Give it an object with url and variants."
        case .tooLarge(let bytes):
            "The job has \(bytes) bytes, over the limit of \(RecordLimits.jobBytes). Ask for fewer variants, or in several jobs."
        case .notJSON(let reason): "The job is not a JSON object: \(reason). Write one object for each job, in UTF-8."
        case .missingField(let name): "The job has no field \"\(name)\". Add it."
        case .unknownField(let name):
            "The job has an unknown field \"\(name)\". Its fields are url, variants, accept, regions, lane, id, expires, retryFor, freshness and fallback."
        case .repeatedField(let name): "The job has the field \"\(name)\" twice. Give it once."
        case .badValue(let reason): "The job has an invalid value: \(reason)."
        case .noVariants(let url):
            "The job for \(url) asks for no variant. Name at least one, such as 640x480-q80.webp, in variants or with --variants."
        case .tooManyVariants:
            "The job asks for more than \(Self.variantLimit) variants. Ask in several jobs."
        case .reservedID(let id):
            "The job's id '\(Self.shortened(id))' begins with \(Job.reservedPrefix), which is reserved for the workers' own jobs. Publish it under another id."
        case .unsigned:
            "The job is not signed, and this worker accepts only signed jobs (jobs.keys). Publish it with mezzotint publish, or sign it as config/producers.md says."
        case .unknownKey(let id):
            "The job is signed with the key '\(id)', which is not in this worker's jobs.keys. Sign with one of its keys, or add this key."
        case .forged(let reason):
            "The job's signature does not hold: \(reason). Find who published it, or sign as config/producers.md says."
        case .refused(let failure): failure.description
        case .poison(let job, let url):
            "Workers crashed while the job for \(url) ran, the last time while no other job ran: it is not run again. Find out why they ended, and look at the job with 'mezzotint dead show \(job)'. If something else ended them, publish it again."
        }
    }

    package var verdict: Verdict { .deadLetter }

    package static let catalogue = Code.catalogue

    /// Whether no statement of the record about itself can be trusted, including its id.
    package var isUntrusted: Bool {
        switch self {
        case .unsigned, .unknownKey, .forged, .reservedID: true
        default: false
        }
    }

    /// Codes of jobs themselves. A refused URL or variant has its own code.
    package enum Code: String, FailureCode {
        case empty = "job.empty"
        case tooLarge = "job.too-large"
        case notJSON = "job.not-json"
        case missingField = "job.missing-field"
        case unknownField = "job.unknown-field"
        case repeatedField = "job.repeated-field"
        case badValue = "job.bad-value"
        case noVariants = "job.no-variants"
        case tooManyVariants = "job.too-many-variants"
        case reservedID = "job.reserved-id"
        case poison = "job.poison"
        case unsigned = "job.unsigned"
        case unknownKey = "job.unknown-key"
        case forged = "job.forged"

        package var meaning: String {
            switch self {
            case .empty: "The record has no body."
            case .tooLarge: "The job is larger than 64 KiB."
            case .notJSON: "The body is not a JSON object, or not UTF-8."
            case .missingField: "A field that a job needs is missing."
            case .unknownField: "The job has an unknown field."
            case .repeatedField: "A field is given twice."
            case .badValue: "A field has a value of another type, or out of its range."
            case .noVariants: "The job asks for no variant."
            case .tooManyVariants: "The job asks for more than 64 variants."
            case .reservedID: "The job's id begins with `mezzotint.`, which is reserved for the workers' own jobs."
            case .poison: "Workers crashed while it ran, the last time while no other job ran."
            case .unsigned: "The job is not signed, and `jobs.keys` is set."
            case .unknownKey: "The job is signed with a key that `jobs.keys` does not have."
            case .forged: "The job's signature does not match its body, id and lane."
            }
        }

        package var verdict: Verdict { .deadLetter }
    }

    init(_ failure: JSONFailure) {
        switch failure {
        case .syntax: self = .notJSON(reason: failure.description)
        case .wrongType("", _, let found, _): self = .notJSON(reason: "it is \(found)")
        case .wrongType: self = .badValue(reason: failure.description)
        case .unknownField(let name, _): self = .unknownField(Self.shortened(name))
        case .duplicateField(let name, _): self = .repeatedField(Self.shortened(name))
        case .missingField(let name): self = .missingField(name)
        }
    }

    /// Untrusted text, cut to fit into a line of the log.
    private static func shortened(_ text: String) -> String { text.count > 80 ? text.prefix(80) + "…" : text }
}
