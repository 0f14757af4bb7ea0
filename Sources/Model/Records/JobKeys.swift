internal import Digest
package import ImageModel

/// Keys shared by publishers and workers. A job signed with any of them is accepted; one of them signs.
///
/// The signature covers the body byte for byte, the job's id and its lane: everything that decides what is fetched and
/// stored, for how long, and how soon. Workers trust no other part of a record for these decisions, so signers in other
/// languages need no canonical form. Parked rows keep all three parts and are checked like any other record, so
/// access to `parked` does not allow forged jobs either. A signed job that somebody publishes again only repeats
/// the same job.
package struct JobKeys: Sendable {
    /// Secrets by key id.
    private let secrets: [String: [UInt8]]
    private let signing: String

    /// - Parameter signing: id of the key that signs.
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

    /// Value of the header `mz_signature`: version of the signed text, id of the key, and HMAC-SHA256 in hexadecimal.
    package func signature(lane: Lane, id: String, body: [UInt8]) -> String { signature(Self.head(of: lane, id), body) }

    /// The same of a control. It covers the body, which has the control's time, and the id.
    package func signature(controlID id: String, body: [UInt8]) -> String { signature(Self.head(ofControl: id), body) }

    /// Refuses a record of a job that none of the keys has signed. Called before a byte of its body is decoded.
    package func check(_ record: Record) throws(JobFailure) {
        let lane = record.topic.lane ?? record.header(EventHeader.lane).flatMap { Lane(rawValue: $0) }
        do throws(Flaw) { try verify(record, "body, id and lane") { id in lane.map { Self.head(of: $0, id) } } } catch {
            switch error {
            case .unsigned: throw .unsigned
            case .unknownKey(let key): throw .unknownKey(key)
            case .forged(let reason): throw .forged(reason: reason)
            }
        }
    }

    /// Refuses a control that none of the keys has signed. Called before a byte of its body is decoded.
    func check(control record: Record) throws(ControlFailure) {
        do throws(Flaw) { try verify(record, "body and id") { Self.head(ofControl: $0) } } catch {
            switch error {
            case .unsigned: throw .unsigned
            case .unknownKey(let key): throw .forged(reason: "this worker's jobs.keys do not have the key \(key)")
            case .forged(let reason): throw .forged(reason: reason)
            }
        }
    }

    private enum Flaw: Error {
        case unsigned
        case unknownKey(String)
        case forged(String)
    }

    /// - Parameters:
    ///   - covered: names of the parts that the signature covers.
    ///   - head: the signed text before the body, for an id; nil: the record lacks another part of it.
    private func verify(_ record: Record, _ covered: String, head: (String) -> [UInt8]?) throws(Flaw) {
        guard let signature = record.header(EventHeader.signature) else { throw .unsigned }
        let parts = signature.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[0] == Self.version, let stated = SHA256Digest(hex: parts[2]) else {
            throw .forged("it is not of the form \(Self.version);KEY;HEX, with 64 digits")
        }
        guard let secret = secrets[parts[1]] else { throw .unknownKey(Self.isID(parts[1]) ? parts[1] : "?") }
        guard let id = record.header(EventHeader.id) else {
            throw .forged("the header \(EventHeader.id) is missing, but the signature covers it")
        }
        guard let head = head(id), HMAC.sha256(of: head + (record.value ?? []), key: secret).equalsInConstantTime(stated)
        else { throw .forged("the key \(parts[1]) makes another of this \(covered)") }
    }

    private func signature(_ head: [UInt8], _ body: [UInt8]) -> String {
        "\(Self.version);\(signing);\(HMAC.sha256(of: head + body, key: secrets[signing] ?? []).hex)"
    }

    /// An id contains no line end, so two different jobs never give the same bytes.
    private static func head(of lane: Lane, _ id: String) -> [UInt8] {
        Array("mezzotint-job-\(version)\n\(lane.rawValue)\n\(id)\n".utf8)
    }

    private static func head(ofControl id: String) -> [UInt8] { Array("mezzotint-control-\(version)\n\(id)\n".utf8) }

    private static let version = "v1"
}

extension Record {
    /// Signature to repeat on a parked row or republished record of the job.
    package var signature: [UInt8]? { headers[EventHeader.signature] }
}

extension SHA256Digest {
    fileprivate init?(hex text: String) {
        let digits = Array(text.utf8)
        guard let digest = digits.withUnsafeBufferPointer({ SHA256Digest(hex: $0) }) else { return nil }
        self = digest
    }
}
