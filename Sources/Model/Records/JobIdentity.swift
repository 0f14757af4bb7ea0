package import Digest


/// Identity of a job while it waits, by which its row, its tombstone and its outcome find each other. It is never the job's
/// id, which publishers may repeat.
package enum JobIdentity: Sendable, Hashable, CustomStringConvertible {
    /// The job's first record, with its append time.
    case record(CompletedRecord)
    /// Digest of the id of a job that a worker made. The id is the same whenever a worker makes the same job again.
    case own(SHA256Digest)

    private static let ownStem = "own-"
    /// Most bytes of the text.
    static let textLimit = CompletedRecord.textLimit

    package init(ofOwn id: String) { self = .own(SHA256.digest(of: Array(id.utf8))) }

    /// Parses `jobs.fast-3-17-1763802000000`, or `own-` with 64 hexadecimal digits. nil: it has another form.
    package init?(_ text: some StringProtocol) {
        if text.hasPrefix(Self.ownStem) {
            let digits = Array(text.dropFirst(Self.ownStem.count).utf8)
            guard let digest = digits.withUnsafeBufferPointer({ SHA256Digest(hex: $0) }) else { return nil }
            self = .own(digest)
        } else {
            guard let record = CompletedRecord(text) else { return nil }
            self = .record(record)
        }
        // One job must have one key; otherwise compaction would keep two rows of it.
        guard description == text else { return nil }
    }

    /// Identity of a record's job: that of its row, or of the record itself.
    package init(of record: Record) {
        self = ParkedKey(record)?.identity ?? .record(CompletedRecord(record))
    }

    /// Identity of the parked job that a record completes. nil: the record completes none, or names it in another form.
    package init?(completedBy record: Record) {
        guard let text = record.header(EventHeader.answers) else { return nil }
        self.init(text)
    }

    package var description: String {
        switch self {
        case .record(let record): record.description
        case .own(let digest): "\(Self.ownStem)\(digest.hex)"
        }
    }
}

extension RecordHeaders {
    /// Names the parked job that the record completes.
    package mutating func append(completed identity: JobIdentity) { append(EventHeader.answers, identity.description) }
}
