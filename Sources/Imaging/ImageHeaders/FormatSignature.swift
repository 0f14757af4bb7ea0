internal import Images
internal import VariantSpec

/// Detects a format by its first bytes; file names and content types are never trusted.
///
/// We decide this, rather than libvips: it asks every loader about unknown bytes, even ImageMagick's, blocked or not.
enum FormatSignature {
    static func format(of bytes: inout PictureBytes) throws(RenderFailure) -> ImageFormat {
        if try bytes.has([0xff, 0xd8, 0xff], at: 0) { return .jpeg }
        if try bytes.has(PNGHeader.signature, at: 0) { return .png }
        if try bytes.has("RIFF", at: 0), try bytes.has("WEBP", at: 8) { return .webp }
        if try bytes.has("GIF87a", at: 0) { return .gif }
        if try bytes.has("GIF89a", at: 0) { return .gif }
        if try isTIFF(&bytes) { return .tiff }
        if try bytes.has([0xff, 0x0a], at: 0) { return .jxl }
        if try bytes.has([0, 0, 0, 12, 0x4a, 0x58, 0x4c, 0x20], at: 0) { return .jxl }
        if try bytes.has("ftyp", at: 4), let format = try brand(&bytes) { return format }
        if try isSVG(&bytes) { return .svg }
        throw .unrecognised(reason: try beginning(&bytes))
    }

    private static func isTIFF(_ bytes: inout PictureBytes) throws(RenderFailure) -> Bool {
        for signature: [UInt8] in [
            [0x49, 0x49, 42, 0], [0x4d, 0x4d, 0, 42], [0x49, 0x49, 43, 0], [0x4d, 0x4d, 0, 43],
        ] {
            if try bytes.has(signature, at: 0) { return true }
        }
        return false
    }

    /// Detects AVIF or HEIC by the major and compatible brands of an ISO file.
    private static func brand(_ bytes: inout PictureBytes) throws(RenderFailure) -> ImageFormat? {
        let end = min(try bytes.big(0, 4) ?? 0, 256)
        var isHEIC = false
        for offset in [8] + stride(from: 16, to: max(16, end - 3), by: 4) {
            guard let name = try bytes.bytes(offset, 4) else { break }
            switch String(decoding: name, as: UTF8.self) {
            case "avif", "avis": return .avif
            case "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1": isHEIC = true
            default: break
            }
        }
        return isHEIC ? .heic : nil
    }

    /// Whether the file is markup with an `<svg` root; a page that contains one is no SVG.
    private static func isSVG(_ bytes: inout PictureBytes) throws(RenderFailure) -> Bool {
        guard let head = try bytes.bytes(0, min(4 << 10, bytes.length)) else { return false }
        return SVGHeader.root(of: String(decoding: head, as: UTF8.self)) != nil
    }

    /// Describes the file's type and its first bytes in readable form: text as text, other bytes in hex.
    private static func beginning(_ bytes: inout PictureBytes) throws(RenderFailure) -> String {
        guard let head = try bytes.bytes(0, min(16, bytes.length)), !head.isEmpty else { return "it is empty" }
        let name = try ForeignFormat.name(of: &bytes)
        if head.allSatisfy({ (0x20..<0x7f).contains($0) || $0 == 0x0a || $0 == 0x0d || $0 == 0x09 }) {
            let text = String(decoding: head, as: UTF8.self)
            let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return (name.map { "it is \($0), and" } ?? "it") + " begins with the text “\(words)”"
        }
        if let name { return "it is \(name)" }
        let digits = Array("0123456789abcdef")
        return "it begins with the bytes "
            + head.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined(separator: " ")
    }
}
