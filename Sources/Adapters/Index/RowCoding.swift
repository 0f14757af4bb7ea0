internal import Canonical
internal import Clocks
internal import Digest
internal import HTTPCache
internal import ImageModel
internal import Ports
internal import Records
internal import VariantSpec

/// All rows of a source as one blob: its key, its source row, its variants, and a check word. SQLite detects damage to
/// the structure of its pages, but not to their contents, and a wrong row would be trusted.
enum RowCoding {
    /// Encodings of a blob's rows; the check word identifies the encoding.
    enum Form: UInt64, CaseIterable {
        /// Like `short` and `cached`, for sources whose metadata mark no point, as most.
        case shortUnmarked = 0x6d7a_0006
        case cachedUnmarked = 0x6d7a_0007
        /// Leaves out values that follow from the key, the spec or the source's row.
        case short = 0x6d7a_0003
        /// Like `short`, with the kept headers of the source's response.
        case cached = 0x6d7a_0004
        /// Like `cached`, with the regions that the source's metadata mark.
        case marked = 0x6d7a_0008
        /// Like `marked`, with a point instead of regions.
        case focused = 0x6d7a_0005
        /// Rows written by commit 454fb1b.
        case full = 0

        var hasPolicy: Bool { self == .cached || self == .cachedUnmarked || self == .marked || self == .focused }
        var isFocusKnown: Bool { self != .short && self != .cached && self != .full }
    }

    static func encode(_ snapshot: SourceSnapshot, of source: SourceKey) -> [UInt8] {
        var bytes = RowBytes(capacity: 256 * (1 + snapshot.variants.count))
        bytes.put(source.digest)
        bytes.put(snapshot.source != nil)
        let form = form(of: snapshot.source)
        if let row = snapshot.source {
            put(row, to: &bytes)
            if form.hasPolicy { bytes.put(row.policy) }
            if form == .marked { bytes.put(row.regions) }
        }
        bytes.put(snapshot.variants.count)
        for row in snapshot.variants { put(row, beside: snapshot.source, to: &bytes) }
        bytes.put(word: bytes.bytes.withUnsafeBytes { checkWord($0, form) })
        return bytes.bytes
    }

    private static func form(of row: SourceRow?) -> Form {
        guard let row else { return .short }
        if !row.regions.isEmpty { return .marked }
        let hasPolicy = row.policy != CachePolicy()
        guard row.isFocusKnown else { return hasPolicy ? .cached : .short }
        return hasPolicy ? .cachedUnmarked : .shortUnmarked
    }

    enum Decoded {
        case snapshot(SourceSnapshot)
        /// The row of another source, whose key begins with the same eight bytes.
        case another
        case damaged
    }

    /// Decodes a blob; nil if it has no key.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> Decoded? {
        var parts = RowParts(bytes)
        let source = SourceKey(parts.digest())
        return parts.isBroken ? nil : decode(bytes, of: source)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, of source: SourceKey) -> Decoded {
        guard bytes.count >= 8 else { return .damaged }
        let content = UnsafeRawBufferPointer(rebasing: bytes.dropLast(8))
        var seal = RowParts(UnsafeRawBufferPointer(rebasing: bytes.suffix(8)))
        let word = seal.word()
        guard let form = Form.allCases.first(where: { checkWord(content, $0) == word }) else { return .damaged }
        var parts = RowParts(content)
        guard parts.digest() == source.digest else { return .another }
        let row = parts.flag() ? sourceRow(source, from: &parts, form) : nil
        let count = parts.int()
        var variants: [VariantRow] = []
        variants.reserveCapacity(min(max(0, count), 64))
        while variants.count < count, !parts.isBroken {
            variants.append(
                form == .full
                    ? fullVariantRow(source, from: &parts) : variantRow(source, beside: row, from: &parts))
        }
        return parts.isWhole ? .snapshot(SourceSnapshot(source: row, variants: variants)) : .damaged
    }

    /// Values that most variants of a source share with its row.
    private struct Base {
        var version: UInt64 = 0
        var size = (width: 0, height: 0)
        var fetchedAt = WallTime.epoch
        var expires = WallTime.epoch

        init(_ row: SourceRow?) {
            guard let row else { return }
            (version, size) = (row.version.word, (row.size.width, row.size.height))
            (fetchedAt, expires) = (row.fetchedAt, row.expires)
        }
    }

    /// Flags for the optional parts of a variant's row.
    private struct Parts: OptionSet {
        let rawValue: Int
        static let alpha = Parts(rawValue: 1)
        static let donor = Parts(rawValue: 2)
        static let region = Parts(rawValue: 4)
        static let location = Parts(rawValue: 8)
        static let facts = Parts(rawValue: 16)
        static let kept = Parts(rawValue: 32)
        static let all: Parts = [.alpha, .donor, .region, .location, .facts, .kept]
    }

    private static func put(_ row: VariantRow, beside source: SourceRow?, to bytes: inout RowBytes) {
        let base = Base(source)
        var parts: Parts = row.hasAlpha ? .alpha : []
        if case .donor = row.derivedFrom { parts.insert(.donor) }
        if row.region != Region(whole: row.sourceSize) { parts.insert(.region) }
        if row.location != BlobName.location(row.source, row.version, row.spec) { parts.insert(.location) }
        if row.facts != nil { parts.insert(.facts) }
        if row.isFromKept { parts.insert(.kept) }
        bytes.put(parts.rawValue)
        bytes.put(row.spec)
        bytes.put(row.version.word ^ base.version)
        bytes.put(row.size)
        bytes.put(row.bytes)
        bytes.put(row.digest)
        if parts.contains(.location) { bytes.put(row.location) }
        if case .donor(let spec) = row.derivedFrom { bytes.put(spec) }
        bytes.put(difference: Int64(row.sourceSize.width &- base.size.width))
        bytes.put(difference: Int64(row.sourceSize.height &- base.size.height))
        if parts.contains(.region) { bytes.put(row.region) }
        bytes.put(row.storedAt, since: base.fetchedAt)
        bytes.put(row.expires, since: base.expires)
        bytes.put(row.frames)
        bytes.put(row.quality)
        bytes.put(row.placeholder)
        bytes.put(row.colour.map { [$0.red, $0.green, $0.blue] } ?? [])
        if let facts = row.facts { bytes.put(facts) }
    }

    private static func variantRow(
        _ source: SourceKey, beside row: SourceRow?, from parts: inout RowParts
    ) -> VariantRow {
        let base = Base(row)
        let has = Parts(rawValue: parts.int(in: 0...Parts.all.rawValue))
        let spec = parts.spec()
        let version = SourceVersion(word: UInt64(bitPattern: parts.number()) ^ base.version)
        let (size, count, digest) = (parts.size(), parts.int(in: RowLimits.bytes), parts.digest())
        let location = has.contains(.location) ? parts.text() : BlobName.location(source, version, spec)
        let derivedFrom: Provenance = has.contains(.donor) ? .donor(parts.spec()) : .origin
        let sourceSize = parts.size(
            base.size.width &+ Int(parts.difference()), base.size.height &+ Int(parts.difference()))
        let region = has.contains(.region) ? parts.region() : Region(whole: sourceSize)
        let (storedAt, expires) = (parts.time(since: base.fetchedAt), parts.time(since: base.expires))
        let (frames, quality, placeholder, colour) = (
            parts.int(in: RowLimits.frames), parts.int(in: RowLimits.quality), parts.bytes(), parts.colour()
        )
        var variant = VariantRow(
            source: source, spec: spec, version: version, size: size, bytes: count, digest: digest, location: location,
            derivedFrom: derivedFrom, sourceSize: sourceSize, region: region, hasAlpha: has.contains(.alpha),
            storedAt: storedAt, expires: expires, frames: frames, quality: quality, placeholder: placeholder,
            colour: colour,
            facts: has.contains(.facts) ? parts.facts() : nil)
        variant.isFromKept = has.contains(.kept)
        return variant
    }

    private static func put(_ row: SourceRow, to bytes: inout RowBytes) {
        bytes.put(row.url)
        bytes.put(word: row.version.word)
        bytes.put(row.size)
        bytes.put(row.format.rawValue)
        bytes.put(row.bytes)
        bytes.put(row.digest)
        bytes.put(row.hasAlpha ? row.isAlphaUnchecked ? 2 : 1 : 0)
        bytes.put(row.frames)
        bytes.put(row.original != nil)
        if let original = row.original {
            // An empty text means the usual location.
            bytes.put(original == BlobName(original: row.source, row.version, row.format).location ? "" : original)
        }
        bytes.put(row.fetchedAt)
        bytes.put(row.expires)
    }

    private static func fullVariantRow(_ source: SourceKey, from parts: inout RowParts) -> VariantRow {
        let (spec, version, size, count) = (
            parts.spec(), SourceVersion(word: parts.word()), parts.size(), parts.int(in: RowLimits.bytes)
        )
        let (digest, location) = (parts.digest(), parts.text())
        let derivedFrom: Provenance = parts.flag() ? .donor(parts.spec()) : .origin
        let (sourceSize, region) = (parts.size(), parts.region())
        let (hasAlpha, storedAt, expires) = (parts.flag(), parts.time(), parts.time())
        let (frames, quality, placeholder, colour) = (
            parts.int(in: RowLimits.frames), parts.int(in: RowLimits.quality), parts.bytes(), parts.colour()
        )
        return VariantRow(
            source: source, spec: spec, version: version, size: size, bytes: count, digest: digest, location: location,
            derivedFrom: derivedFrom, sourceSize: sourceSize, region: region, hasAlpha: hasAlpha, storedAt: storedAt,
            expires: expires, frames: frames, quality: quality, placeholder: placeholder,
            colour: colour,
            facts: parts.flag() ? parts.facts() : nil)
    }

    private static func sourceRow(_ source: SourceKey, from parts: inout RowParts, _ form: Form) -> SourceRow {
        let (url, version, size, format) = (
            parts.text(), SourceVersion(word: parts.word()), parts.size(), parts.format()
        )
        let (count, digest) = (parts.int(in: RowLimits.bytes), parts.digest())
        // Rows since 454fb1b have 0 or 1; 2: known from the header only.
        let (alpha, frames) = (parts.int(in: 0...2), parts.int(in: RowLimits.frames))
        var original = parts.flag() ? parts.text() : nil
        if form != .full, original == "" { original = BlobName(original: source, version, format).location }
        return SourceRow(
            source: source, url: url, version: version, size: size, format: format, bytes: count, digest: digest,
            hasAlpha: alpha > 0, frames: frames, original: original, fetchedAt: parts.time(), expires: parts.time(),
            policy: form.hasPolicy ? parts.policy() : CachePolicy(),
            regions: form == .marked ? parts.regions() : form == .focused ? parts.regions(numbers: 2) : [],
            isFocusKnown: form.isFocusKnown, isAlphaUnchecked: alpha == 2)
    }

    /// Checksum of one multiply and fold for each eight bytes: it detects damage, not tampering.
    static func checkWord(_ bytes: UnsafeRawBufferPointer, _ form: Form) -> UInt64 {
        var state = UInt64(bytes.count) ^ form.rawValue
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
