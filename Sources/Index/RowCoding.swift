internal import Digest
internal import ImageModel

/// The rows of an index as bytes, each behind a check word: SQLite notices damage to its pages' order, not to what is
/// in them, and a wrong row would be believed.
enum RowCoding {
    static func encode(_ row: VariantRow) -> [UInt8] {
        var bytes = RowBytes()
        bytes.put(row.spec)
        bytes.put(word: row.version.word)
        bytes.put(row.size)
        bytes.put(row.bytes)
        bytes.put(row.digest)
        bytes.put(row.location)
        if case .donor(let spec) = row.madeFrom {
            bytes.put(true)
            bytes.put(spec)
        } else {
            bytes.put(false)
        }
        bytes.put(row.sourceSize)
        for side in [row.region.x, row.region.y, row.region.width, row.region.height] { bytes.put(word: side.bitPattern) }
        bytes.put(row.hasAlpha)
        bytes.put(row.storedAt)
        bytes.put(row.expires)
        return sealed(bytes, of: row.source)
    }

    static func encode(_ row: SourceRow) -> [UInt8] {
        var bytes = RowBytes()
        bytes.put(row.url)
        bytes.put(word: row.version.word)
        bytes.put(row.size)
        bytes.put(row.format.rawValue)
        bytes.put(row.bytes)
        bytes.put(row.digest)
        bytes.put(row.hasAlpha)
        bytes.put(row.original != nil)
        if let original = row.original { bytes.put(original) }
        bytes.put(row.fetchedAt)
        bytes.put(row.expires)
        return sealed(bytes, of: row.source)
    }

    /// nil if the bytes are not what was encoded.
    static func variant(_ bytes: UnsafeRawBufferPointer, of source: SourceKey) -> VariantRow? {
        guard var parts = opened(bytes, of: source) else { return nil }
        let (spec, version, size, count) = (parts.spec(), SourceVersion(word: parts.word()), parts.size(), parts.int())
        let (digest, location) = (parts.digest(), parts.text())
        let madeFrom: Provenance = parts.flag() ? .donor(parts.spec()) : .origin
        let sourceSize = parts.size()
        func side() -> Double { Double(bitPattern: parts.word()) }
        let region = Region(x: side(), y: side(), width: side(), height: side())
        let row = VariantRow(
            source: source, spec: spec, version: version, size: size, bytes: count, digest: digest, location: location,
            madeFrom: madeFrom, sourceSize: sourceSize, region: region, hasAlpha: parts.flag(), storedAt: parts.number(),
            expires: parts.number())
        return parts.isWhole ? row : nil
    }

    static func source(_ bytes: UnsafeRawBufferPointer, of source: SourceKey) -> SourceRow? {
        guard var parts = opened(bytes, of: source) else { return nil }
        let (url, version, size, format) = (parts.text(), SourceVersion(word: parts.word()), parts.size(), parts.format())
        let (count, digest, hasAlpha) = (parts.int(), parts.digest(), parts.flag())
        let original = parts.flag() ? parts.text() : nil
        let row = SourceRow(
            source: source, url: url, version: version, size: size, format: format, bytes: count, digest: digest,
            hasAlpha: hasAlpha, original: original, fetchedAt: parts.number(), expires: parts.number())
        return parts.isWhole ? row : nil
    }

    /// A source key as the index's key.
    static func key(_ source: SourceKey) -> [UInt8] {
        var bytes = RowBytes()
        for word in [source.digest.words.0, source.digest.words.1, source.digest.words.2, source.digest.words.3] {
            bytes.put(word: word.byteSwapped)
        }
        return bytes.bytes
    }

    private static func sealed(_ parts: consuming RowBytes, of source: SourceKey) -> [UInt8] {
        let check = parts.bytes.withUnsafeBytes { checkWord($0, source) }
        parts.put(word: check)
        return parts.bytes
    }

    private static func opened(_ bytes: UnsafeRawBufferPointer, of source: SourceKey) -> RowParts? {
        guard bytes.count >= 8 else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: bytes.dropLast(8))
        var seal = RowParts(UnsafeRawBufferPointer(rebasing: bytes.suffix(8)))
        return seal.word() == checkWord(content, source) ? RowParts(content) : nil
    }

    /// A multiply and fold for each eight bytes: against damage, not against people.
    private static func checkWord(_ bytes: UnsafeRawBufferPointer, _ source: SourceKey) -> UInt64 {
        var state = source.digest.words.0 ^ UInt64(bytes.count)
        func mix(_ word: UInt64) {
            let product = (state ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
            state = product.high ^ product.low ^ word.byteSwapped
        }
        var place = 0
        while place + 8 <= bytes.count {
            mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
            place += 8
        }
        var tail: UInt64 = 0
        for byte in bytes[place...] { tail = tail << 8 | UInt64(byte) }
        mix(tail)
        return state
    }
}
