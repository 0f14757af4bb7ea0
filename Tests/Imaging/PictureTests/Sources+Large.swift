internal import VariantSpec

/// Pictures of one colour whose files are small, and whose pixels are many: what a decoder needs goes by the pixels.
extension Sources {
    private static func big(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xff, marker] + big(content.count + 2) + content
    }

    /// A JPEG of three components. Each block is a difference of no bits, and of one scan the end of a block, in a bit each.
    static func flatJPEG(_ size: PixelSize, isProgressive: Bool = false, isHalved: Bool = true) -> [UInt8] {
        let side = isHalved ? 16 : 8
        let units = (size.width + side - 1) / side * ((size.height + side - 1) / side)
        let bits = units * (isHalved ? 6 : 3) * (isProgressive ? 1 : 2)
        let codes: [UInt8] = [1] + [UInt8](repeating: 0, count: 16)
        return [0xff, 0xd8] + segment(0xdb, [0] + [UInt8](repeating: 1, count: 64))
            + segment(
                isProgressive ? 0xc2 : 0xc0,
                [8] + big(size.height) + big(size.width) + [3, 1, isHalved ? 0x22 : 0x11, 0, 2, 0x11, 0, 3, 0x11, 0])
            + segment(0xc4, [0] + codes) + segment(0xc4, [0x10] + codes)
            + segment(0xda, [3, 1, 0, 2, 0, 3, 0, 0, isProgressive ? 0 : 63, 0])
            + [UInt8](repeating: 0, count: (bits + 7) / 8) + [0xff, 0xd9]
    }

    /// A JPEG whose XMP has 10,000 attributes in a namespace of 4 kB, where it marks regions.
    static var namedJPEG: [UInt8] {
        let (uri, attributes) = (String(repeating: "u", count: 4_096), String(repeating: "a:b=''", count: 10_000))
        let names =
            "xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:m='http://www.metadataworkinggroup.com/schemas/regions/'"
        let packet =
            "<x:xmpmeta \(names) xmlns:a='\(uri)'><r:RDF><r:Description><m:Regions><r:li \(attributes)/>"
        let jpeg = flatJPEG(PixelSize(width: 90, height: 60))
        let content = Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Array(packet.utf8)
        return Array(jpeg[..<2]) + segment(0xe1, content) + Array(jpeg[2...])
    }

    /// A black WebP without loss.
    static func stillWebP(_ size: PixelSize) -> [UInt8] {
        let moving = flatWebP(size, frames: 1)
        guard let start = moving.firstRange(of: Array("VP8L".utf8))?.lowerBound else { return [] }
        let picture = moving[start...]
        let length = picture.count + 4
        return Array("RIFF".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + Array("WEBP".utf8)
            + picture
    }

    /// A grey WebP with loss: every bit of its blocks is 0, which takes up to 5 bits a block, and 8 for the rest.
    static func lossyWebP(_ size: PixelSize) -> [UInt8] {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let blocks = (size.width + 15) / 16 * ((size.height + 15) / 16)
        let modes = 1_000 + blocks * 5 / 8
        let count = 10 + (modes + 1_000 + blocks) / 2 * 2
        var bytes = Array("RIFF".utf8) + little(count + 12, 4) + Array("WEBPVP8 ".utf8) + little(count, 4)
        bytes += little(modes << 5 | 1 << 4, 3) + [0x9d, 0x01, 0x2a] + little(size.width, 2) + little(size.height, 2)
        return bytes + [UInt8](repeating: 0, count: count - 10)
    }

    /// A small WebP with a chunk of so many bytes.
    static func burdenedWebP(_ name: String, _ count: Int) -> [UInt8] {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let flags: UInt8 = name == "ICCP" ? 0x20 : 4
        let canvas = Array("VP8X".utf8) + little(10, 4) + [flags, 0, 0, 0] + little(79, 3) + little(59, 3)
        let burden = Array(name.utf8) + little(count, 4) + [UInt8](repeating: 0x3c, count: count + count % 2)
        let picture = Array(stillWebP(PixelSize(width: 80, height: 60))[12...])
        let body = Array("WEBP".utf8) + canvas + (flags == 4 ? picture + burden : burden + picture)
        return Array("RIFF".utf8) + little(body.count, 4) + body
    }

    /// A WebP with an orientation, as a camera writes it: `size` is what is stored.
    static func turnedWebP(_ webp: [UInt8], _ size: PixelSize, orientation: Int) -> [UInt8] {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
            Array(name.utf8) + little(content.count, 4) + content + [UInt8](repeating: 0, count: content.count % 2)
        }
        let canvas = chunk("VP8X", [8, 0, 0, 0] + little(size.width - 1, 3) + little(size.height - 1, 3))
        let body = Array("WEBP".utf8) + canvas + webp[12...] + chunk("EXIF", tiff(orientation: orientation))
        return Array("RIFF".utf8) + little(body.count, 4) + body
    }
}
