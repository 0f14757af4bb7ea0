internal import Ports
internal import RenderProtocol
internal import VariantSpec

/// A TIFF's first page: size, orientation and whether it is transparent. Its other pages are left alone.
enum TIFFHeader {
    static func read(_ bytes: inout PictureBytes, _ limits: RenderLimits) throws(RenderFailure) -> PictureHeader {
        let isBig = try bytes.has([0x4d, 0x4d], at: 0)
        func number(_ offset: Int, _ count: Int) throws(RenderFailure) -> Int? {
            isBig ? try bytes.big(offset, count) : try bytes.little(offset, count)
        }
        guard try number(2, 2) == 42, let start = try number(4, 4), let entries = try number(start, 2) else {
            throw .malformed(.tiff, reason: "it has no directory, or one of more than 32 bits")
        }
        var values: [Int: Int] = [:]
        var extra = 0
        for entry in 0..<min(entries, 512) {
            let place = start + 2 + entry * 12
            guard let tag = try number(place, 2), let kind = try number(place + 2, 2),
                let count = try number(place + 4, 4)
            else { break }
            values[tag] = kind == 3 ? try number(place + 8, 2) : try number(place + 8, 4)
            if tag == 338 { extra = count }
        }
        guard let width = values[256], let height = values[257] else {
            throw .malformed(.tiff, reason: "its first page has no size")
        }
        var header = PictureHeader(stored: try PixelSize(width, height, of: .tiff))
        header.orientation = values[274].flatMap { Orientation(rawValue: $0) } ?? .upright
        header.hasAlpha = extra > 0
        // Strips and tiles may be as large as the picture.
        header.memory = header.stored.times(6)
        return header
    }
}
