internal import Canonical
internal import Digest
internal import ImageModel
internal import Records
internal import VariantSpec

/// All rows of a source as one blob: its key, its source row, its variants, and a check word, since SQLite notices
/// damage to its pages' order, not to what is in them, and a wrong row would be believed.
enum RowCoding {
    static func encode(_ snapshot: SourceSnapshot, of source: SourceKey) -> [UInt8] {
        var bytes = RowBytes(capacity: 256 * (1 + snapshot.variants.count))
        bytes.put(source.digest)
        bytes.put(snapshot.source != nil)
        if let row = snapshot.source { put(row, to: &bytes) }
        bytes.put(snapshot.variants.count)
        for row in snapshot.variants { put(row, to: &bytes) }
        bytes.put(word: bytes.bytes.withUnsafeBytes(checkWord))
        return bytes.bytes
    }

    enum Decoded {
        case snapshot(SourceSnapshot)
        /// Of another source, whose key begins with the same eight bytes.
        case another
        case damaged
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, of source: SourceKey) -> Decoded {
        guard bytes.count >= 8 else { return .damaged }
        let content = UnsafeRawBufferPointer(rebasing: bytes.dropLast(8))
        var seal = RowParts(UnsafeRawBufferPointer(rebasing: bytes.suffix(8)))
        guard seal.word() == checkWord(content) else { return .damaged }
        var parts = RowParts(content)
        guard parts.digest() == source.digest else { return .another }
        let row = parts.flag() ? sourceRow(source, from: &parts) : nil
        let count = parts.int()
        var variants: [VariantRow] = []
        variants.reserveCapacity(min(max(0, count), 64))
        while variants.count < count, !parts.isBroken { variants.append(variantRow(source, from: &parts)) }
        return parts.isWhole ? .snapshot(SourceSnapshot(source: row, variants: variants)) : .damaged
    }

    private static func put(_ row: VariantRow, to bytes: inout RowBytes) {
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
        bytes.put(word: row.region.x.bitPattern)
        bytes.put(word: row.region.y.bitPattern)
        bytes.put(word: row.region.width.bitPattern)
        bytes.put(word: row.region.height.bitPattern)
        bytes.put(row.hasAlpha)
        bytes.put(row.storedAt)
        bytes.put(row.expires)
        bytes.put(row.frames)
        bytes.put(row.quality)
        bytes.put(row.placeholder)
        bytes.put(row.colour.map { [$0.red, $0.green, $0.blue] } ?? [])
        bytes.put(row.facts != nil)
        if let facts = row.facts { bytes.put(facts) }
    }

    private static func put(_ row: SourceRow, to bytes: inout RowBytes) {
        bytes.put(row.url)
        bytes.put(word: row.version.word)
        bytes.put(row.size)
        bytes.put(row.format.rawValue)
        bytes.put(row.bytes)
        bytes.put(row.digest)
        bytes.put(row.hasAlpha)
        bytes.put(row.frames)
        bytes.put(row.original != nil)
        if let original = row.original { bytes.put(original) }
        bytes.put(row.fetchedAt)
        bytes.put(row.expires)
    }

    private static func variantRow(_ source: SourceKey, from parts: inout RowParts) -> VariantRow {
        let (spec, version, size, count) = (
            parts.spec(), SourceVersion(word: parts.word()), parts.size(), parts.int(in: RowLimits.bytes)
        )
        let (digest, location) = (parts.digest(), parts.text())
        let madeFrom: Provenance = parts.flag() ? .donor(parts.spec()) : .origin
        let (sourceSize, region) = (parts.size(), parts.region())
        let (hasAlpha, storedAt, expires) = (parts.flag(), parts.number(), parts.number())
        let (frames, quality, placeholder, colour) = (
            parts.int(in: RowLimits.frames), parts.int(in: RowLimits.quality), parts.bytes(), parts.colour()
        )
        return VariantRow(
            source: source, spec: spec, version: version, size: size, bytes: count, digest: digest, location: location,
            madeFrom: madeFrom, sourceSize: sourceSize, region: region, hasAlpha: hasAlpha, storedAt: storedAt,
            expires: expires, frames: frames, quality: quality, placeholder: placeholder,
            colour: colour,
            facts: parts.flag() ? parts.facts() : nil)
    }

    private static func sourceRow(_ source: SourceKey, from parts: inout RowParts) -> SourceRow {
        let (url, version, size, format) = (
            parts.text(), SourceVersion(word: parts.word()), parts.size(), parts.format()
        )
        let (count, digest) = (parts.int(in: RowLimits.bytes), parts.digest())
        let (hasAlpha, frames) = (parts.flag(), parts.int(in: RowLimits.frames))
        let original = parts.flag() ? parts.text() : nil
        return SourceRow(
            source: source, url: url, version: version, size: size, format: format, bytes: count, digest: digest,
            hasAlpha: hasAlpha, frames: frames, original: original, fetchedAt: parts.number(), expires: parts.number())
    }

    /// A multiply and fold for each eight bytes: against damage, not against people.
    private static func checkWord(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var state = UInt64(bytes.count)
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
        while place < bytes.count {
            tail = tail << 8 | UInt64(bytes[place])
            place += 1
        }
        mix(tail)
        return state
    }
}
