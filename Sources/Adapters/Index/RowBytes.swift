internal import Clocks
internal import Digest
internal import ImageModel
internal import Records
internal import VariantSpec

/// Writes the parts of an index row one after another: numbers in LEB128, bytes after their length.
struct RowBytes: ~Copyable {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func put(_ number: Int) { put(UInt64(bitPattern: Int64(number))) }

    mutating func put(_ number: Int64) { put(UInt64(bitPattern: number)) }

    mutating func put(_ number: UInt64) {
        var left = number
        while left >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: left) | 0x80)
            left >>= 7
        }
        bytes.append(UInt8(left))
    }

    /// Appends a difference, which is small if two numbers are close, whichever is larger.
    mutating func put(difference: Int64) { put(UInt64(bitPattern: difference << 1 ^ difference >> 63)) }

    mutating func put(_ time: WallTime) { put(time.milliseconds) }

    mutating func put(_ time: WallTime, since base: WallTime) {
        put(difference: time.milliseconds &- base.milliseconds)
    }

    mutating func put(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func put(_ text: String) {
        put(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func put(_ more: [UInt8]) {
        put(more.count)
        bytes.append(contentsOf: more)
    }

    mutating func put(_ facts: SourceFacts) {
        put(facts.format.rawValue)
        put(facts.frames)
        put(facts.hasAlpha)
        put(facts.orientation)
        let isDrawing: UInt8 = facts.isDrawing.map { $0 ? 8 : 4 } ?? 0
        bytes.append((facts.isTruncated ? 1 : 0) | (facts.ignoresProfile ? 2 : 0) | isDrawing)
    }

    mutating func put(_ size: PixelSize) {
        put(size.width)
        put(size.height)
    }

    mutating func put(_ regions: [KeptRegion]) {
        put(4 * regions.count)
        for number in regions.flatMap(\.numbers) { put(number) }
    }

    mutating func put(_ region: Region) {
        put(word: region.x.bitPattern)
        put(word: region.y.bitPattern)
        put(word: region.width.bitPattern)
        put(word: region.height.bitPattern)
    }

    /// Appends eight bytes unchanged, for numbers that are rarely small.
    mutating func put(word: UInt64) { withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) } }

    mutating func put(_ digest: SHA256Digest) {
        put(word: digest.words.0)
        put(word: digest.words.1)
        put(word: digest.words.2)
        put(word: digest.words.3)
    }

    mutating func put(_ spec: VariantSpec) {
        put(spec.width)
        put(spec.height)
        put(spec.mode.rawValue)
        put(spec.quality)
        put(spec.format.rawValue)
        put(spec.enlarge)
        put(spec.axis.x)
        put(spec.axis.y)
        put(spec.hasExtras ? spec.description : "")
    }
}

/// Reads the same parts back. A missing part, or a number out of range, reads as a harmless value and sets `isWhole` to
/// false. So damaged bytes end in a refusal of the row, never in a trap.
struct RowParts {
    private let row: UnsafeRawBufferPointer
    private var place = 0
    private(set) var isBroken = false

    init(_ bytes: UnsafeRawBufferPointer) { row = bytes }

    /// Whether every part was present, and no byte is left.
    var isWhole: Bool { !isBroken && place == row.count }

    @inline(__always)
    private mutating func next() -> UInt8? {
        guard place < row.count else { return nil }
        defer { place += 1 }
        return row[place]
    }

    mutating func number() -> Int64 {
        var (number, shift) = (UInt64(0), UInt64(0))
        while shift < 70 {
            guard let byte = next() else { break }
            number |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return Int64(bitPattern: number) }
            shift += 7
        }
        isBroken = true
        return 0
    }

    mutating func int() -> Int { Int(number()) }

    mutating func difference() -> Int64 {
        let folded = UInt64(bitPattern: number())
        return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
    }

    mutating func time() -> WallTime { WallTime(milliseconds: number()) }

    mutating func time(since base: WallTime) -> WallTime {
        WallTime(milliseconds: base.milliseconds &+ difference())
    }

    mutating func int(in range: ClosedRange<Int>) -> Int {
        let value = int()
        if range.contains(value) { return value }
        isBroken = true
        return range.lowerBound
    }

    mutating func flag() -> Bool {
        switch next() {
        case 0: return false
        case 1: return true
        default:
            isBroken = true
            return false
        }
    }

    mutating func text() -> String { String(decoding: counted(), as: UTF8.self) }

    mutating func bytes() -> [UInt8] { Array(counted().assumingMemoryBound(to: UInt8.self)) }

    mutating func colour() -> RGB? {
        let bytes = counted()
        return bytes.count == 3 ? RGB(bytes[0], bytes[1], bytes[2]) : nil
    }

    /// Reads a length and that many bytes.
    private mutating func counted() -> UnsafeRawBufferPointer {
        let length = int()
        guard length >= 0, length <= row.count - place else {
            isBroken = true
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        defer { place += length }
        return UnsafeRawBufferPointer(rebasing: row[place..<place + length])
    }

    mutating func facts() -> SourceFacts {
        var facts = SourceFacts(
            format: format(), frames: int(in: RowLimits.frames), hasAlpha: flag(),
            orientation: int(in: RowLimits.orientation))
        let flags = next() ?? .max
        isBroken = isBroken || flags > 11
        (facts.isTruncated, facts.ignoresProfile) = (flags & 1 != 0, flags & 2 != 0)
        facts.isDrawing = flags & 12 == 0 ? nil : flags & 8 != 0
        return facts
    }

    mutating func size() -> PixelSize { size(int(), int()) }

    /// Builds a size from sides that were read.
    mutating func size(_ width: Int, _ height: Int) -> PixelSize {
        if let size = PixelSize(checking: width, height) { return size }
        isBroken = true
        return PixelSize(width: 1, height: 1)
    }

    mutating func word() -> UInt64 {
        guard row.count - place >= 8 else {
            isBroken = true
            return 0
        }
        defer { place += 8 }
        return UInt64(littleEndian: row.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }

    mutating func region() -> Region {
        let (x, y, width, height) = (word(), word(), word(), word())
        let region = Region(
            checkingX: Double(bitPattern: x), y: Double(bitPattern: y), width: Double(bitPattern: width),
            height: Double(bitPattern: height))
        if let region { return region }
        isBroken = true
        return Region(x: 0, y: 0, width: 1, height: 1)
    }

    mutating func regions() -> [KeptRegion] { regions(numbers: int(in: 0...4 * KeptRegion.limit)) }

    /// Reads regions, or points if `numbers` is 2.
    mutating func regions(numbers: Int) -> [KeptRegion] {
        let told = (0..<numbers).map { _ in int(in: 0...1000) }
        if let regions = [KeptRegion](checking: numbers == 2 ? told + [0, 0] : told) { return regions }
        isBroken = true
        return []
    }

    mutating func digest() -> SHA256Digest { SHA256Digest(words: (word(), word(), word(), word())) }

    mutating func format() -> ImageFormat {
        let text = counted()
        // Avoids building a string for the usual formats.
        if text.elementsEqual("webp".utf8) { return .webp }
        if text.elementsEqual("jpeg".utf8) { return .jpeg }
        if let format = ImageFormat(rawValue: String(decoding: text, as: UTF8.self)) { return format }
        isBroken = true
        return .jpeg
    }

    private mutating func mode() -> FitMode {
        let text = counted()
        if text.count == 1, let mode = FitMode(text[0]) { return mode }
        isBroken = true
        return .inside
    }

    mutating func spec() -> VariantSpec {
        let (width, height) = (int(in: RowLimits.side), int(in: RowLimits.side))
        let (mode, quality) = (mode(), int(in: RowLimits.quality))
        let (format, enlarge) = (format(), flag())
        let axis = CropAxis(x: int(in: RowLimits.axis), y: int(in: RowLimits.axis))
        var written = text()
        if !written.isEmpty {
            if let spec = written.withUTF8({ VariantSpec(written: $0) }) { return spec }
            isBroken = true
        }
        return VariantSpec(
            width: width, height: height, mode: mode, quality: quality, format: format, enlarge: enlarge,
            axis: axis)
    }
}

extension FitMode {
    /// Reads the mode from the byte that is its text.
    fileprivate init?(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "x"): self = .inside
        case UInt8(ascii: "z"): self = .cover
        case UInt8(ascii: "y"): self = .crop
        default: return nil
        }
    }
}
