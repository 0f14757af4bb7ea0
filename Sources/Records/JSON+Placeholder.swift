internal import ImageModel
internal import JSONText
internal import VariantSpec

// By-products of a decode inside JSON: what a variant looks like before it is loaded, and what its source was.

extension JSONWriter {
    /// `frames` and `quality` only where they differ from what the spec says.
    mutating func placeholderOf(_ row: VariantRow) {
        if row.frames != 1 { field("frames", row.frames) }
        if row.quality != row.spec.quality { field("quality", row.quality) }
        if !row.placeholder.isEmpty { field("placeholder", Base64.text(row.placeholder)) }
        if let colour = row.colour { field("colour", "#" + colour.hex) }
    }

    mutating func facts(_ facts: SourceFacts, size: PixelSize? = nil) {
        beginObject()
        field("format", facts.format.rawValue)
        if let size {
            field("width", size.width)
            field("height", size.height)
        }
        field("frames", facts.frames)
        field("alpha", facts.hasAlpha)
        field("orientation", facts.orientation)
        field("truncated", facts.isTruncated)
        endObject()
    }
}

extension JSONReader {
    mutating func placeholder() throws(JSONFailure) -> [UInt8] {
        try value("a ThumbHash in base 64") { text in Base64.bytes(text).flatMap { $0.count <= 64 ? $0 : nil } }
    }

    mutating func colour() throws(JSONFailure) -> RGB {
        try value("a colour such as #f0f0f0") { $0.hasPrefix("#") ? RGB(hex: $0.utf8.dropFirst()) : nil }
    }

    mutating func facts() throws(JSONFailure) -> SourceFacts {
        var format: ImageFormat?
        var frames: Int?
        var hasAlpha: Bool?
        var orientation: Int?
        var isTruncated: Bool?
        try openObject()
        while let key = try nextKey() {
            switch key {
            case "format": format = try value("a picture format") { ImageFormat(rawValue: $0) }
            case "frames": frames = try integer(in: RowLimits.frames)
            case "alpha": hasAlpha = try boolean()
            case "orientation": orientation = try integer(in: RowLimits.orientation)
            case "truncated": isTruncated = try boolean()
            default: try skip()
            }
        }
        return SourceFacts(
            format: try format.field("format"), frames: frames ?? 1, hasAlpha: try hasAlpha.field("alpha"),
            orientation: orientation ?? 1, isTruncated: isTruncated ?? false)
    }
}

/// Base 64 as RFC 4648 has it, padded: Foundation's is not seen from here.
package enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func text(_ bytes: [UInt8]) -> String {
        var out: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            let word = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
            for place in 0..<4 {
                out.append(place <= part.count ? digits[word >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    package static func bytes(_ text: String) -> [UInt8]? {
        let body = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
        var (out, word, bits): ([UInt8], Int, Int) = ([], 0, 0)
        for byte in body {
            guard let digit = digits.firstIndex(of: byte) else { return nil }
            word = (word << 6 | digit) & 0xffff
            bits += 6
            if bits >= 8 {
                bits -= 8
                out.append(UInt8(truncatingIfNeeded: word >> bits))
            }
        }
        return text.utf8.count % 4 == 0 ? out : nil
    }
}
