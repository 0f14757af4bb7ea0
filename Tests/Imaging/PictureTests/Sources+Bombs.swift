import TestPixels
internal import VariantSpec

/// Files whose headers are within every limit, and whose pixels are not meant well.
extension Sources {
    private static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }
    private static func little(_ value: Int, _ count: Int) -> [UInt8] { big(value, count).reversed() }

    /// A grey progressive JPEG: its first scan has a bit for each block, each of the 63 others says in a few bytes that
    /// all of its coefficients are zero, and costs a walk over all of them.
    static func scannedJPEG(side: Int) -> [UInt8] {
        func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
            [0xff, marker] + big(content.count + 2, 2) + content
        }
        func table(_ kind: UInt8, _ symbol: UInt8) -> [UInt8] {
            segment(0xc4, [kind, 1] + [UInt8](repeating: 0, count: 15) + [symbol])
        }
        func scan(_ from: UInt8, _ to: UInt8, _ data: [UInt8]) -> [UInt8] {
            segment(0xda, [1, 1, 0, from, to, 0]) + data
        }
        let blocks = ((side + 7) / 8) * ((side + 7) / 8)
        // A run of 32,767 blocks: the code 0, then 14 ones, which fill bytes that end in ones.
        var bits: [UInt8] = []
        var (held, count) = (0, 0)
        for _ in 0..<(blocks + 32_766) / 32_767 {
            (held, count) = (held << 15 | 0x3fff, count + 15)
            while count >= 8 {
                let byte = UInt8(held >> (count - 8) & 255)
                bits += byte == 0xff ? [0xff, 0] : [byte]
                count -= 8
            }
        }
        bits.append(UInt8(held << (8 - count) & 255 | (1 << (8 - count) - 1)))
        if bits.last == 0xff { bits.append(0) }
        return [0xff, 0xd8] + segment(0xdb, [0] + [UInt8](repeating: 1, count: 64))
            + segment(0xc2, [8] + big(side, 2) + big(side, 2) + [1, 1, 0x11, 0]) + table(0x00, 0) + table(0x10, 0xe0)
            + scan(0, 0, [UInt8](repeating: 0, count: blocks / 8 + 1)) + (1...63).flatMap { scan($0, $0, bits) } + [
                0xff, 0xd9,
            ]
    }

    /// An AVIF or a HEIC, as its tile is, that shows the tile over and over, as a grid; `shown` is the size that its header tells.
    ///
    /// - Parameter hasAlpha: the same grid is its alpha, too.
    static func grid(tile: [UInt8], side: Int, count: Int, shown: Int, hasAlpha: Bool = false) -> [UInt8]? {
        func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
            big(content.count + 8, 4) + Array(name.utf8) + content
        }
        func whole(_ name: String, _ version: UInt8, _ content: [UInt8]) -> [UInt8] {
            box(name, [version, 0, 0, 0] + content)
        }
        func part(_ name: String) -> [UInt8]? {
            guard let place = tile.firstRange(of: Array(name.utf8))?.lowerBound, place >= 4 else { return nil }
            let length = tile[place - 4..<place].reduce(0) { $0 << 8 | Int($1) }
            return Array(tile[place + 4..<place - 4 + length])
        }
        let isHEIC = part("hvcC") != nil
        let (codec, kind, brand) = isHEIC ? ("hvcC", "hvc1", "heic") : ("av1C", "av01", "avif")
        guard let configuration = part(codec), let data = part("mdat") else { return nil }
        let grid = [0, 1, UInt8(count - 1), UInt8(count - 1)] + big(side * count, 4) + big(side * count, 4)
        func entry(_ item: Int, _ type: String) -> [UInt8] {
            whole("infe", 2, big(item, 2) + [0, 0] + Array(type.utf8) + [0])
        }
        func meta(_ start: Int) -> [UInt8] {
            let properties = box(
                "ipco",
                box(codec, configuration) + whole("ispe", 0, big(side, 4) + big(side, 4))
                    + whole("ispe", 0, big(shown, 4) + big(shown, 4)) + whole("pixi", 0, [3, 8, 8, 8])
                    + whole("auxC", 0, Array("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0".utf8)))
            let items = hasAlpha ? 3 : 2
            var owned: [UInt8] = [0, 1, 2, 3, 4, 0, 2, 3, 0x81, 2, 4]
            if hasAlpha { owned += [0, 3, 3, 3, 4, 0x85] }
            let owners = whole("ipma", 0, big(items, 4) + owned)
            func tiles(of item: Int) -> [UInt8] {
                box("dimg", big(item, 2) + big(count * count, 2) + (0..<count * count).flatMap { _ in big(2, 2) })
            }
            func place(_ item: Int, _ offset: Int, _ length: Int) -> [UInt8] {
                big(item, 2) + big(0, 2) + big(1, 2) + big(offset, 4) + big(length, 4)
            }
            var (entries, references) = (entry(1, "grid") + entry(2, kind), tiles(of: 1))
            var places = place(1, start, grid.count) + place(2, start + grid.count, data.count)
            if hasAlpha {
                entries += entry(3, "grid")
                references += tiles(of: 3) + box("auxl", big(3, 2) + big(1, 2) + big(1, 2))
                places += place(3, start, grid.count)
            }
            return whole(
                "meta", 0,
                whole("hdlr", 0, big(0, 4) + Array("pict".utf8) + big(0, 12) + [0]) + whole("pitm", 0, big(1, 2))
                    + whole("iinf", 0, big(items, 2) + entries) + whole("iref", 0, references)
                    + box("iprp", properties + owners) + whole("iloc", 0, [0x44, 0] + big(items, 2) + places))
        }
        let type = box("ftyp", Array(brand.utf8) + big(0, 4) + Array("\(brand)mif1".utf8))
        let start = type.count + meta(0).count + 8
        return type + meta(start) + box("mdat", grid + data)
    }

    /// A GIF of one colour in a few kilobytes: codes that each stand for one pixel more than the last.
    static func flatGIF(side: Int, frames: [(width: Int, height: Int)]) -> [UInt8] {
        var bytes = Array("GIF89a".utf8) + little(side, 2) + little(side, 2) + [0x80, 0, 0, 10, 20, 30, 40, 50, 60]
        for (width, height) in frames {
            bytes += [0x21, 0xf9, 4, 0, 10, 0, 0, 0, 0x2c, 0, 0, 0, 0] + little(width, 2) + little(height, 2) + [0, 2]
            var (data, held, count): ([UInt8], Int, Int) = ([], 0, 0)
            func put(_ code: Int, _ width: Int) {
                (held, count) = (held | code << count, count + width)
                while count >= 8 {
                    (held, count) = (
                        {
                            data.append(UInt8(held & 255))
                            return held >> 8
                        }(), count - 8
                    )
                }
            }
            var (left, next, width, length) = (width * height, 6, 3, 1)
            put(4, 3)
            put(0, 3)
            left -= 1
            while left > 0 {
                length = next <= 4095 ? length + 1 : length
                put(left >= length ? min(next, 4095) : 0, width)
                left -= left >= length ? length : 1
                if next <= 4095 { next += 1 }
                if next >= 1 << width, width < 12 { width += 1 }
            }
            put(5, width)
            put(0, 7)
            for start in stride(from: 0, to: data.count, by: 255) {
                let part = data[start..<min(data.count, start + 255)]
                bytes += [UInt8(part.count)] + part
            }
            bytes.append(0)
        }
        return bytes + [0x3b]
    }

    /// A WebP of black frames without loss, of a few bytes each.
    static func flatWebP(_ size: PixelSize, frames: Int) -> [UInt8] {
        func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
            Array(name.utf8) + little(content.count, 4) + content + [UInt8](repeating: 0, count: content.count % 2)
        }
        let (width, height) = (size.width - 1, size.height - 1)
        // Neither transform nor cache, then five codes of one symbol, four bits each: 1 for "simple", and a 0 of one bit.
        let pixels = chunk("VP8L", [0x2f] + little(width | height << 14, 4) + [0x88, 0x88, 0x08, 0])
        let sides = little(width, 3) + little(height, 3)
        let frame = chunk("ANMF", little(0, 6) + sides + little(100, 3) + [0] + pixels)
        let canvas = chunk("VP8X", [0x02, 0, 0, 0] + sides) + chunk("ANIM", little(0, 6))
        let body = Array("WEBP".utf8) + canvas + [[UInt8]](repeating: frame, count: frames).flatMap { $0 }
        return Array("RIFF".utf8) + little(body.count, 4) + body
    }

    /// A WebP whose canvas is small, and whose one picture says that it is as large as can be.
    static let swollenWebP: [UInt8] = {
        let picture = Array("VP8L".utf8) + little(10, 4) + [0x2f, 0xfe, 0xbf, 0xff, 0x0f, 0, 0, 0, 0, 0]
        let canvas = Array("VP8X".utf8) + little(10, 4) + [0, 0, 0, 0] + little(9, 3) + little(9, 3)
        return Array("RIFF".utf8) + little(4 + canvas.count + picture.count, 4) + Array("WEBP".utf8) + canvas + picture
    }()

    /// A black TIFF in one strip, deflated.
    static func stripTIFF(side: Int) -> [UInt8] {
        let data = zeros(side * side * 3)
        func field(_ tag: Int, _ kind: Int, _ count: Int, _ value: Int) -> [UInt8] {
            little(tag, 2) + little(kind, 2) + little(count, 4)
                + (kind == 3 && count == 1 ? little(value, 2) + [0, 0] : little(value, 4))
        }
        let fields = [
            field(256, 4, 1, side), field(257, 4, 1, side), field(258, 3, 3, 8), field(259, 3, 1, 8),
            field(262, 3, 1, 2),
            field(273, 4, 1, 16), field(277, 3, 1, 3), field(278, 4, 1, side), field(279, 4, 1, data.count),
        ]
        let start = 16 + data.count + data.count % 2
        return Array("II".utf8) + little(42, 2) + little(start, 4) + [8, 0, 8, 0, 8, 0, 0, 0] + data
            + [UInt8](repeating: 0, count: data.count % 2) + little(fields.count, 2) + fields.flatMap { $0 }
            + little(0, 4)
    }

    /// Ten groups, each of which shows the one before ten times.
    static let nestedSVG = Array(
        ("<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='100' height='100'><defs>"
            + "<g id='a0'><circle r='3'/></g>"
            + (1...9).map { level in
                "<g id='a\(level)'>" + String(repeating: "<use xlink:href='#a\(level - 1)' x='1'/>", count: 10) + "</g>"
            }.joined() + "</defs><use xlink:href='#a9'/></svg>").utf8)

    /// 100 by 100, with these elements.
    static func svg(_ elements: String) -> [UInt8] {
        Array("<svg xmlns='http://www.w3.org/2000/svg' width='100' height='100'>\(elements)</svg>".utf8)
    }

    /// Entities that grow to 3 GB of text.
    static let laughingSVG = Array(
        ("<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY a0 'ha'>"
            + (1...9).map { level in "<!ENTITY a\(level) '" + String(repeating: "&a\(level - 1);", count: 10) + "'>" }
            .joined()
            + "]><svg xmlns='http://www.w3.org/2000/svg' width='100' height='100'><text y='20'>&a9;</text></svg>").utf8)
}
