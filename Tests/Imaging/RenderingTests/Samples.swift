internal import Posix
internal import RenderProtocol
internal import TestPixels

/// Pictures that have a header and next to no pixels.
enum Samples {
    static func file(_ bytes: [UInt8]) throws -> OpenFile {
        let file = try OpenFile(anonymous: "sample")
        try bytes.withUnsafeBytes { try file.append($0) }
        return file
    }

    static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }
    static func little(_ value: Int, _ count: Int) -> [UInt8] { big(value, count).reversed() }

    static func jpeg(
        width: Int, height: Int, coding: UInt8 = 0xc0, depth: UInt8 = 8, components: UInt8 = 3, scans: Int = 1,
        scanComponents: UInt8? = nil, segments: [[UInt8]] = []
    ) -> [UInt8] {
        var frame: [UInt8] = [depth] + big(height, 2) + big(width, 2) + [components]
        for component in 0..<components { frame += [component, 0x11, 0] }
        let parts = scanComponents ?? components
        var scan: [UInt8] = [parts]
        for component in 0..<parts { scan += [component, 0] }
        scan += [0, 63, 0]
        var bytes: [UInt8] = [0xff, 0xd8]
        for segment in segments { bytes += segment }
        bytes += segment(coding, frame)
        for _ in 0..<scans {
            bytes += segment(0xda, scan)
            // Entropy-coded bytes with a stuffed 0xff and a restart.
            bytes += [1, 2, 0xff, 0, 3, 0xff, 0xd0, 4]
        }
        // Fill bytes may come before a marker.
        return bytes + [0xff, 0xff, 0xd9]
    }

    static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xff, marker] + big(content.count + 2, 2) + content
    }

    /// An APP1 segment that tells an orientation.
    static func exif(_ orientation: Int, isBigEndian: Bool = true) -> [UInt8] {
        segment(0xe1, Array("Exif\0\0".utf8) + tiff(orientation, isBigEndian: isBigEndian))
    }

    /// The TIFF structure inside EXIF: another field, then the orientation.
    static func tiff(_ orientation: Int, isBigEndian: Bool = true) -> [UInt8] {
        let number = isBigEndian ? big : little
        var bytes = Array((isBigEndian ? "MM" : "II").utf8)
        let fields = [
            (42, 2), (8, 4), (2, 2), (0x010f, 2), (2, 2), (1, 4), (0, 4), (0x0112, 2), (3, 2), (1, 4), (orientation, 2),
            (0, 2), (0, 4),
        ]
        for (value, count) in fields { bytes += number(value, count) }
        return bytes
    }

    static func png(
        width: Int, height: Int, depth: UInt8 = 8, interlace: UInt8 = 0, before: [UInt8] = [], after: [UInt8] = []
    ) -> [UInt8] {
        var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        bytes += Pixels.chunk("IHDR", big(width, 4) + big(height, 4) + [depth, 6, 0, 0, interlace])
        bytes += before
        bytes += Pixels.chunk("IDAT", [1, 2, 3])
        bytes += after
        return bytes + Pixels.chunk("IEND", [])
    }

    /// The bytes that a decoder may see.
    static func kept(_ picture: InspectedPicture, of bytes: [UInt8]) -> [UInt8] {
        picture.keep?.flatMap { bytes[$0] } ?? bytes
    }

    /// The names of a PNG's chunks.
    static func chunks(_ png: [UInt8]) -> [String] {
        var names: [String] = []
        var offset = 8
        while offset + 12 <= png.count {
            names.append(String(decoding: png[offset + 4..<offset + 8], as: UTF8.self))
            offset += 12 + png[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        return names
    }

    /// A zlib stream of one stored block.
    static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01, 1]
        stream += little(bytes.count, 2)
        stream += little(~bytes.count & 0xffff, 2)
        return stream + bytes + [0, 0, 0, 0]
    }

    static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + little(content.count, 4) + content + (content.count % 2 == 1 ? [0] : [])
    }
    static func riff(_ chunks: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + little(chunks.count + 4, 4) + Array("WEBP".utf8) + chunks
    }

    static func webp(width: Int, height: Int, frames: Int, hasAlpha: Bool = false, orientation: Int? = nil) -> [UInt8] {
        let flags = UInt8(2 | (hasAlpha ? 0x10 : 0) | (orientation == nil ? 0 : 8))
        var chunks = chunk("VP8X", [flags, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3))
        for _ in 0..<frames { chunks += chunk("ANMF", [UInt8](repeating: 0, count: 17)) }
        if let orientation { chunks += chunk("EXIF", tiff(orientation, isBigEndian: false)) }
        return riff(chunks)
    }

    static func gif(width: Int, height: Int, frames: Int, delay: Int = 7) -> [UInt8] {
        var bytes =
            Array("GIF89a".utf8) + little(width, 2) + little(height, 2) + [0x80, 0, 0] + [UInt8](repeating: 9, count: 6)
        for _ in 0..<frames {
            bytes +=
                [0x21, 0xf9, 4, 1] + little(delay, 2) + [0, 0, 0x2c, 0, 0, 0, 0] + little(width, 2) + little(height, 2)
            bytes += [0, 2, 2, 0x44, 0x01, 0]
        }
        return bytes + [0x3b]
    }

    /// The boxes of an AVIF that say what it is, without its pixels.
    static func avif(
        width: Int, height: Int, turns: Int = 0, hasAlpha: Bool = false,
        auxiliary kind: String = "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha",
        aperture: (width: Int, height: Int)? = nil
    ) -> [UInt8] {
        let box = Bombs.box
        var properties = box("ispe", big(0, 4) + big(width, 4) + big(height, 4)) + box("irot", [UInt8(turns)])
        if let aperture {
            // Each side a fraction, and where its middle lies.
            properties += box(
                "clap", [aperture.width * 2, 2, aperture.height * 2, 2, 0, 1, 0, 1].flatMap { big($0, 4) })
        }
        if hasAlpha {
            properties += box("auxC", big(0, 4) + Array("\(kind)\0".utf8))
        }
        let own: [UInt8] = aperture == nil ? [2, 1, 0x82] : [3, 1, 0x82, 0x83]
        let last = UInt8(aperture == nil ? 3 : 4)
        let links = box(
            "ipma", big(0, 4) + big(hasAlpha ? 2 : 1, 4) + big(7, 2) + own + (hasAlpha ? big(8, 2) + [2, 1, last] : []))
        // Item 8 is its alpha.
        let alpha = box("iref", big(0, 4) + box("auxl", big(8, 2) + big(1, 2) + big(7, 2)))
        let meta =
            box("pitm", big(0, 4) + big(7, 2)) + (hasAlpha ? alpha : []) + box("iprp", box("ipco", properties) + links)
        return box("ftyp", Array("avif".utf8) + big(0, 4) + Array("avif".utf8)) + box("meta", big(0, 4) + meta)
    }

    /// A TIFF's first directory.
    static func page(width: Int, height: Int, orientation: Int) -> [UInt8] {
        var bytes = Array("II".utf8) + little(42, 2) + little(8, 4) + little(3, 2)
        for (tag, value) in [(256, width), (257, height), (274, orientation)] {
            bytes += little(tag, 2) + little(4, 2) + little(1, 4) + little(value, 4)
        }
        return bytes + little(0, 4)
    }
}
