internal import Digest
package import ImageModel

/// The keys that publishers and workers share: a job under any of them is taken, and one of them signs.
///
/// Signed is the body byte for byte, and with it the job's id and its lane: all that says what is fetched, stored, for how
/// long, and how soon. Nothing else of a record is believed for that, so nothing needs a form of its own in other
/// languages, and copies that go through retry topics, which keep all three, are checked like any other record: whoever may
/// write to one of those forges no more there. A signed job that is published once more is answered once more alike.
package struct JobKeys: Sendable {
    /// By key id.
    private let secrets: [String: [UInt8]]
    private let signing: String

    /// - Parameter signing: the id of one of them.
    package init?(_ secrets: [String: [UInt8]], signing: String) {
        guard secrets[signing] != nil else { return nil }
        (self.secrets, self.signing) = (secrets, signing)
    }

    private static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                byte &- 48 < 10 || (byte | 0x20) &- 97 < 26 || [0x2D, 0x2E, 0x5F].contains(byte)
            }
    }

    /// The value of the header `mz_signature`: the version of what is signed, the key's id, HMAC-SHA256 in hexadecimal.
    package func signature(lane: Lane, id: String, body: [UInt8]) -> String {
        "\(Self.version);\(signing);\(digest(lane, id, body, secrets[signing] ?? []).hex)"
    }

    /// Refuses a record of a job that none of the keys has signed. Asked before a byte of its body is read.
    package func check(_ record: Record) throws(JobFailure) {
        guard let signature = record.header(EventHeader.signature) else { throw .unsigned }
        let parts = signature.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[0] == Self.version, let told = SHA256Digest(hex: parts[2]) else {
            throw .forged(reason: "it is not of the form \(Self.version);KEY;HEX, with 64 digits")
        }
        guard let secret = secrets[parts[1]] else { throw .unknownKey(Self.isID(parts[1]) ? parts[1] : "?") }
        guard let id = record.header(EventHeader.id) else {
            throw .forged(reason: "the header \(EventHeader.id) is missing, and belongs to what is signed")
        }
        let lane = record.topic.lane ?? record.header(EventHeader.lane).flatMap { Lane(rawValue: $0) }
        guard let lane, digest(lane, id, record.value ?? [], secret).equalsInConstantTime(told) else {
            throw .forged(reason: "the key \(parts[1]) makes another of this body, id and lane")
        }
    }

    /// An id has no line end, so no two jobs run into the same bytes.
    private func digest(_ lane: Lane, _ id: String, _ body: [UInt8], _ secret: [UInt8]) -> SHA256Digest {
        HMAC.sha256(of: Array("mezzotint-job-\(Self.version)\n\(lane.rawValue)\n\(id)\n".utf8) + body, key: secret)
    }

    private static let version = "v1"
}

extension Record {
    /// To be said again on a copy of the job.
    package var signature: [UInt8]? { headers[EventHeader.signature] }
}

extension SHA256Digest {
    fileprivate init?(hex text: String) {
        let digits = Array(text.utf8)
        guard let digest = digits.withUnsafeBufferPointer({ SHA256Digest(hex: $0) }) else { return nil }
        self = digest
    }
}
