internal import TestPixels
internal import TestSupport

/// A file of one format, split into its parts, so that damage can keep to their borders.
///
/// Readers mostly parse a file with swapped parts or inserted metadata, but mostly refuse one that was cut at random.
struct PictureParts {
    enum Kind: Hashable, CaseIterable { case jpeg, png, webp, gif, heif, tiff, svg, other }

    let kind: Kind
    private let head: [UInt8]
    private var parts: [[UInt8]]
    private let tail: [UInt8]

    init(_ bytes: [UInt8]) {
        kind = Self.kind(of: bytes)
        let places: [Int] =
            switch kind {
            case .jpeg: Self.segments(bytes)
            case .png: Self.chunks(bytes, from: 8, beside: 12, length: { $0.reduce(0) { $0 << 8 | Int($1) } }, at: 0)
            case .webp:
                Self.chunks(
                    bytes, from: 12, beside: 8, length: { $0.reversed().reduce(0) { $0 << 8 | Int($1) } }, at: 4)
            default: []
            }
        let start = places.first ?? bytes.count
        head = Array(bytes[..<start])
        parts = zip(places, places.dropFirst()).map { Array(bytes[$0..<$1]) }
        tail = Array(bytes[(places.last ?? start)...])
    }

    static func kind(of bytes: [UInt8]) -> Kind {
        func has(_ text: String, at place: Int) -> Bool { bytes.dropFirst(place).starts(with: text.utf8) }
        if bytes.starts(with: [0xFF, 0xD8]) { return .jpeg }
        if has("PNG", at: 1) { return .png }
        if has("WEBP", at: 8) { return .webp }
        if has("GIF8", at: 0) { return .gif }
        if has("ftyp", at: 4) { return .heif }
        if has("II*", at: 0) || has("MM", at: 0) { return .tiff }
        return has("<", at: 0) ? .svg : .other
    }

    /// Swaps two parts.
    func swapped(_ random: inout SeededRandom) -> [UInt8] {
        var parts = parts
        if parts.count > 1 { parts.swapAt(random.below(parts.count), random.below(parts.count)) }
        return head + Array(parts.joined()) + tail
    }

    /// Inserts a part with metadata, or with bytes that pretend to be metadata.
    func told(_ random: inout SeededRandom) -> [UInt8] {
        let noise = (0..<random.below(400)).map { _ in UInt8(random.below(256)) }
        let exif = Mutation.light(Self.exif, &random) + noise.prefix(random.below(64))
        var parts = parts
        let place = random.below(parts.count + 1)
        switch kind {
        case .jpeg:
            let kinds: [(marker: UInt8, body: [UInt8])] = [
                (0xE1, Array("Exif\0\0".utf8) + exif), (0xE2, Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + noise),
                (0xFE, noise),
            ]
            let (marker, body) = random.pick(kinds)
            let count = body.count + 2
            parts.insert([0xFF, marker, UInt8(count >> 8), UInt8(count & 255)] + body, at: min(place, 2, parts.count))
        case .png:
            parts.insert(
                Pixels.chunk(
                    random.pick(["tEXt", "zTXt", "iTXt", "eXIf", "iCCP", "gAMA", "acTL"]), random.pick([exif, noise])),
                at: min(parts.count, max(1, place)))
        case .webp:
            let body = random.pick([exif, noise])
            let name = random.pick(["EXIF", "XMP ", "ICCP"])
            parts.insert(
                Array(name.utf8) + (0..<4).map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) } + body
                    + [UInt8](repeating: 0, count: body.count & 1), at: place)
        case .gif, .heif, .tiff, .other: return head + noise + tail
        case .svg: return head + Array("<!-- \(noise) -->".utf8)
        }
        return head + Array(parts.joined()) + tail
    }

    /// Corrects checksums, if the format has any: otherwise its readers stop there.
    static func summed(_ bytes: [UInt8]) -> [UInt8] {
        let whole = PictureParts(bytes)
        guard whole.kind == .png else { return bytes }
        let parts = whole.parts.map { part in
            Pixels.chunk(String(decoding: part[4..<8], as: UTF8.self), Array(part[8..<(part.count - 4)]))
        }
        // An invalid name has other bytes as text.
        return zip(parts, whole.parts).allSatisfy({ $0.count == $1.count })
            ? whole.head + Array(parts.joined()) + whole.tail : bytes
    }

    /// Offsets of each segment before the first scan, and of that scan.
    private static func segments(_ bytes: [UInt8]) -> [Int] {
        var places = [2]
        while let place = places.last, place + 4 <= bytes.count, bytes[place] == 0xFF, bytes[place + 1] != 0xDA {
            let next = place + 2 + Int(bytes[place + 2]) << 8 + Int(bytes[place + 3])
            guard next <= bytes.count else { break }
            places.append(next)
        }
        return places
    }

    private static func chunks(
        _ bytes: [UInt8], from start: Int, beside: Int, length: (ArraySlice<UInt8>) -> Int, at offset: Int
    ) -> [Int] {
        var places = [start]
        while let place = places.last, place + beside <= bytes.count {
            let told = length(bytes[(place + offset)..<(place + offset + 4)])
            let next = place + beside + told + (beside == 8 ? told & 1 : 0)
            guard next <= bytes.count else { break }
            places.append(next)
        }
        return places
    }

    /// A big-endian EXIF block with an orientation and a width.
    private static let exif: [UInt8] = [
        0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 2, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 1, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 64,
        0, 0,
        0, 0,
    ]
}
