package import Canonical
internal import Digest
package import VariantSpec

/// Meaning of a record's key: a source on most topics, a row on `variants`.
///
/// The format is part of the contract with readers of the log. A key is `<64 hex>` on the topics of jobs and outcomes.
/// On `variants` it is `<64 hex>/<spec>` for a variant, `<64 hex>/@source` for a source, `@epoch/<partition>` for the
/// owner of a partition, and `@progress/<partition>` for its owners' progress. On `parked` it is
/// `<64 hex>/@parked/<identity>` for a job that waits, and `@epoch/<partition>`. Neither a spec nor a hexadecimal digest
/// begins with `@`, so reserved keys never collide with others.
package enum RecordKey: Sendable, Hashable {
    case job(SourceKey)
    case source(SourceKey)
    case variant(SourceKey, VariantSpec)
    /// A row of `parked`.
    case parked(SourceKey, JobIdentity)
    case epoch(PartitionID)
    case progress(PartitionID)

    private static let sourceLeaf = Array("/@source".utf8)
    private static let parkedStem = Array("/@parked/".utf8)
    private static let epochStem = Array("@epoch/".utf8)
    private static let progressStem = Array("@progress/".utf8)

    package var bytes: [UInt8] {
        switch self {
        case .job(let source): [UInt8](unsafeUninitializedCapacity: 64) { $1 = source.digest.writeHex(to: $0.baseAddress!) }
        case .source(let source): RecordKey.job(source).bytes + Self.sourceLeaf
        case .variant(let source, let spec):
            [UInt8](unsafeUninitializedCapacity: 65 + spec.byteLimit) { out, count in
                source.digest.writeHex(to: out.baseAddress!)
                out[64] = UInt8(ascii: "/")
                count = 65 + spec.write(to: out.baseAddress! + 65)
            }
        case .parked(let source, let identity):
            RecordKey.job(source).bytes + Self.parkedStem + Array(identity.description.utf8)
        case .epoch(let partition): Self.epochStem + Array(String(partition.number).utf8)
        case .progress(let partition): Self.progressStem + Array(String(partition.number).utf8)
        }
    }

    /// Parses a key of any topic; nil if it has none of these forms.
    package init?(_ bytes: [UInt8]) {
        let key = bytes.withUnsafeBufferPointer { Self.parse($0) }
        guard let key else { return nil }
        self = key
    }

    private static func parse(_ key: UnsafeBufferPointer<UInt8>) -> RecordKey? {
        if key.first == UInt8(ascii: "@") {
            return partition(of: key, after: epochStem).map { .epoch($0) }
                ?? partition(of: key, after: progressStem).map { .progress($0) }
        }
        guard key.count >= 64, let digest = SHA256Digest(hex: UnsafeBufferPointer(rebasing: key[..<64])) else { return nil }
        // One source must have one key; otherwise compaction would keep two rows of it. So digits must be lower case.
        guard !key[..<64].contains(where: { $0 &- 65 < 6 }) else { return nil }
        let source = SourceKey(digest)
        if key.count == 64 { return .job(source) }
        if key[64...].elementsEqual(sourceLeaf) { return .source(source) }
        if key[64...].starts(with: parkedStem) {
            return identity(key[(64 + parkedStem.count)...]).map { .parked(source, $0) }
        }
        guard key[64] == UInt8(ascii: "/"), let spec = VariantSpec(written: UnsafeBufferPointer(rebasing: key[65...]))
        else { return nil }
        return .variant(source, spec)
    }

    private static func identity(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> JobIdentity? {
        text.count > JobIdentity.textLimit ? nil : JobIdentity(String(decoding: text, as: UTF8.self))
    }

    private static func partition(of key: UnsafeBufferPointer<UInt8>, after stem: [UInt8]) -> PartitionID? {
        guard key.starts(with: stem) else { return nil }
        let digits = String(decoding: key[stem.count...], as: UTF8.self)
        guard let number = Int32(digits), number >= 0, String(number) == digits else { return nil }
        return PartitionID(number)
    }
}
