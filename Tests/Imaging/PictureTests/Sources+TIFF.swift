internal import TestPixels

extension Sources {
    /// An uncompressed TIFF.
    ///
    /// - Parameters:
    ///   - kind: its photometric interpretation: 1 grey, 2 RGB, 3 palette (of yellows), 5 CMYK, 8 CIELAB, 9 ICCLAB.
    ///   - hasAlpha: the last channel is.
    ///   - rows: of a strip; all of them without.
    ///   - bits: of a sample, in as many bytes of `pixels`.
    ///   - sampleKind: 1 unsigned, 2 signed, 3 floating-point.
    ///   - samples: of a pixel, where `pixels` has other ones.
    ///   - isBig: a BigTIFF, whose offsets have 64 bits.
    static func tiff(
        of pixels: Pixels, kind: Int, hasAlpha: Bool = false, rows: Int? = nil, description: String? = nil,
        xmp: [UInt8] = [], profile: [UInt8] = [], bits: Int = 8, sampleKind: Int = 1, isBig: Bool = false,
        samples: Int? = nil
    ) -> [UInt8] {
        let channels = samples ?? pixels.channels
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let (word, head) = isBig ? (8, 16) : (4, 8)
        var data = pixels.bytes
        var entries: [[UInt8]] = []
        func add(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) {
            var field = value
            if value.count > word {
                if data.count % 2 == 1 { data.append(0) }
                field = little(head + data.count, word)
                data += value
            }
            entries.append(
                little(tag, 2) + little(type, 2) + little(count, word) + field
                    + [UInt8](repeating: 0, count: word - field.count))
        }
        func short(_ tag: Int, _ values: Int...) { add(tag, 3, values.count, values.flatMap { little($0, 2) }) }
        func long(_ tag: Int, _ value: Int) { add(tag, 4, 1, little(value, 4)) }
        long(256, pixels.width)
        long(257, pixels.height)
        add(258, 3, channels, (0..<channels).flatMap { _ in little(bits, 2) })
        short(259, 1)
        short(262, kind)
        if let description { add(270, 2, description.utf8.count + 1, Array(description.utf8) + [0]) }
        let (row, strip) = (pixels.width * channels * bits / 8, rows ?? pixels.height)
        let strips = Array(stride(from: 0, to: pixels.height, by: strip))
        add(273, 4, strips.count, strips.flatMap { little(head + $0 * row, 4) })
        short(277, channels)
        long(278, strip)
        add(279, 4, strips.count, strips.flatMap { little(min(strip, pixels.height - $0) * row, 4) })
        if kind == 3 {
            // All reds, all greens, all blues, of 16 bits.
            let steps = (0..<1 << bits).flatMap { little($0 * 65_535 / ((1 << bits) - 1), 2) }
            add(320, 3, 3 << bits, steps + steps + [UInt8](repeating: 0, count: steps.count))
        }
        if hasAlpha { short(338, 2) }
        if sampleKind != 1 {
            add(339, 3, channels, (0..<channels).flatMap { _ in little(sampleKind, 2) })
        }
        if !xmp.isEmpty { add(700, 1, xmp.count, xmp) }
        if !profile.isEmpty { add(34675, 7, profile.count, profile) }
        if data.count % 2 == 1 { data.append(0) }
        let start = Array("II".utf8) + (isBig ? little(43, 2) + little(8, 4) : little(42, 2))
        return start + little(head + data.count, word) + data + little(entries.count, isBig ? 8 : 2)
            + entries.flatMap { $0 } + little(0, word)
    }

    /// A WebP's chunks in a canvas, with a profile before them and others behind.
    static func webp(
        _ bytes: [UInt8], _ pixels: Pixels, profile: [UInt8] = [], chunks: [(name: String, content: [UInt8])]
    ) -> [UInt8] {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
            Array(name.utf8) + little(content.count, 4) + content + [UInt8](repeating: 0, count: content.count % 2)
        }
        var flags: UInt8 = profile.isEmpty ? 0 : 0x20
        for (name, _) in chunks { flags |= name == "EXIF" ? 8 : name == "XMP " ? 4 : 0 }
        let canvas = [flags, 0, 0, 0] + little(pixels.width - 1, 3) + little(pixels.height - 1, 3)
        var body = Array("WEBP".utf8) + chunk("VP8X", canvas)
        if !profile.isEmpty { body += chunk("ICCP", profile) }
        body += bytes[12...]
        for (name, content) in chunks { body += chunk(name, content) }
        return Array("RIFF".utf8) + little(body.count, 4) + body
    }
}
