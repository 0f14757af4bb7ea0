internal import Images

/// Unsupported formats, detected by their first bytes so that a failure can name them.
enum ForeignFormat {
    /// Name such as `a PDF document` or `a WebM video`; nil for unknown bytes.
    static func name(of bytes: inout PictureBytes) throws(RenderFailure) -> String? {
        for (signature, name) in signatures where try bytes.has(signature, at: 0) { return name }
        if let name = try bitmap(&bytes) { return name }
        if let name = try riff(&bytes) { return name }
        if let name = try matroska(&bytes) { return name }
        if let name = try iso(&bytes) { return name }
        if let name = try transportStream(&bytes) { return name }
        return try json(&bytes)
    }

    private static let signatures: [(signature: [UInt8], name: String)] = [
        ([0, 0, 1, 0], "an ICO icon"), ([0, 0, 2, 0], "a CUR cursor"),
        (Array("8BPS".utf8), "a Photoshop document"),
        ([0, 0, 0, 12] + Array("jP  ".utf8), "a JPEG 2000 image"), ([0xff, 0x4f, 0xff, 0x51], "a JPEG 2000 image"),
        (Array("%PDF-".utf8), "a PDF document"), (Array("%!PS".utf8), "a PostScript document"),
        ([0x1f, 0x8b], "gzip data"), ([0x28, 0xb5, 0x2f, 0xfd], "zstd data"), (Array("BZh".utf8), "bzip2 data"),
        ([0xfd] + Array("7zXZ".utf8), "xz data"),
        (Array("PK\u{3}\u{4}".utf8), "a ZIP archive"), (Array("PK\u{5}\u{6}".utf8), "a ZIP archive"),
        (Array("Rar!".utf8), "a RAR archive"), (Array("7z".utf8) + [0xbc, 0xaf], "a 7z archive"),
        ([0, 0, 1, 0xba], "an MPEG video"), ([0, 0, 1, 0xb3], "an MPEG video"),
        (Array("FLV\u{1}".utf8), "a Flash video"), ([0x30, 0x26, 0xb2, 0x75], "a Windows Media file"),
        (Array("OggS".utf8), "an Ogg file"), (Array("ID3".utf8), "an MP3 audio file"),
    ]

    /// Detects a BMP. Words may begin with `BM`, too, so the size of its second header must be valid.
    private static func bitmap(_ bytes: inout PictureBytes) throws(RenderFailure) -> String? {
        guard try bytes.has("BM", at: 0), let size = try bytes.little(14, 4) else { return nil }
        return [12, 16, 40, 52, 56, 64, 108, 124].contains(size) ? "a BMP image" : nil
    }

    private static func riff(_ bytes: inout PictureBytes) throws(RenderFailure) -> String? {
        guard try bytes.has("RIFF", at: 0) else { return nil }
        if try bytes.has("AVI ", at: 8) { return "an AVI video" }
        return try bytes.has("WAVE", at: 8) ? "a WAV audio file" : nil
    }

    private static func matroska(_ bytes: inout PictureBytes) throws(RenderFailure) -> String? {
        guard try bytes.has([0x1a, 0x45, 0xdf, 0xa3], at: 0) else { return nil }
        let head = try bytes.bytes(0, min(64, bytes.length)) ?? []
        return String(decoding: head, as: UTF8.self).contains("webm") ? "a WebM video" : "a Matroska video"
    }

    /// Names a file of boxes without an image brand. The first QuickTime files have no brand.
    private static func iso(_ bytes: inout PictureBytes) throws(RenderFailure) -> String? {
        for box: StaticString in ["moov", "mdat", "wide"] where try bytes.has(box, at: 4) { return "a QuickTime video" }
        guard try bytes.has("ftyp", at: 4), let brand = try bytes.bytes(8, 4) else { return nil }
        return switch String(decoding: brand, as: UTF8.self) {
        case "qt  ": "a QuickTime video"
        case "M4A ", "M4B ": "an MPEG-4 audio file"
        case "crx ": "a CR3 camera file"
        default: "an MP4 video"
        }
    }

    /// Detects packets of 188 bytes that all begin with the same byte.
    private static func transportStream(_ bytes: inout PictureBytes) throws(RenderFailure) -> String? {
        for packet in 0..<3 where try bytes[188 * packet] != 0x47 { return nil }
        return "an MPEG video"
    }

    private static func json(_ bytes: inout PictureBytes) throws(RenderFailure) -> String? {
        let head = String(decoding: try bytes.bytes(0, min(64, bytes.length)) ?? [], as: UTF8.self)
        let marks = head.filter { !$0.isWhitespace }
        return ["{\"", "{}", "[{", "[\"", "[]"].contains { marks.hasPrefix($0) } ? "JSON" : nil
    }
}
