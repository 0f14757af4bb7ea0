internal import Ports
internal import Records

extension ChangelogFingerprints {
    /// Encoded form in an index file.
    var packed: [UInt8] {
        var bytes = RowBytes(capacity: 16 * Self.limit)
        let fingerprints = newestFirst
        bytes.put(fingerprints.count)
        for fingerprint in fingerprints {
            bytes.put(fingerprint.offset)
            bytes.put(fingerprint.timestamp)
        }
        return bytes.bytes
    }

    /// Decodes fingerprints; nil if the bytes are damaged.
    init?(packed bytes: UnsafeRawBufferPointer) {
        var parts = RowParts(bytes)
        self.init()
        for _ in 0..<parts.int(in: 0...Self.limit) {
            note(RecordFingerprint(offset: parts.number(), timestamp: parts.time()))
        }
        let areSound = newestFirst.allSatisfy { $0.offset >= 0 && RecordLimits.times.contains($0.timestamp) }
        guard parts.isWhole, areSound else { return nil }
    }
}
