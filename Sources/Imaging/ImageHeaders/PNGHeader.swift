internal import Images
internal import RenderProtocol
internal import VariantSpec

/// Reads a PNG's size and orientation, and selects the chunks that a decoder may read.
///
/// libpng inflates text and profiles on opening: eighteen zTXt chunks in 0.9 MB cost libvips 27 s. So only chunks that
/// change pixels are kept.
enum PNGHeader {
    static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    /// Most kept pieces: a PNG has its data in one run, after nine kinds of chunks.
    private static let pieceLimit = 256
    private static let kept: Set<String> = ["IHDR", "PLTE", "tRNS", "IDAT", "IEND", "gAMA", "cHRM", "sRGB", "iCCP"]

    static func read(_ bytes: inout PictureBytes, _ limits: RenderLimits) throws(RenderFailure) -> PictureHeader {
        var (header, most) = try start(&bytes)
        var keep = [0..<signature.count]
        var offset = signature.count
        var chunks = 0
        var data = 0
        var hasProfile = false
        // Numeric colour values, which count only if no other chunk names the colours.
        var (gamma, chromaticities, isNamed) = (0, [Int](), false)
        var rights = FoundRights()
        header.isTruncated = true
        while let length = try bytes.big(offset, 4), let name = try bytes.bytes(offset + 4, 4) {
            chunks += 1
            guard chunks <= limits.chunks else { throw .tooManyChunks(limit: limits.chunks) }
            let type = String(decoding: name, as: UTF8.self)
            let end = min(offset + 12 + length, bytes.length)
            switch type {
            case "IDAT": data += length
            case "tRNS": header.hasAlpha = true
            case "cICP" where length == 4 && data == 0:
                // Accepts only RGB in full range, like Chromium; for other pixels the code points say nothing.
                guard try bytes.has([0, 1], at: offset + 10), let primaries = try bytes[offset + 8],
                    let transfer = try bytes[offset + 9]
                else { break }
                (header.colours, isNamed) = (ColourCodes(primaries: Int(primaries), transfer: Int(transfer)), true)
            case "sRGB", "iCCP": isNamed = true
            case "gAMA" where length == 4 && data == 0: gamma = try bytes.big(offset + 8, 4) ?? 0
            case "cHRM" where length == 32 && data == 0:
                chromaticities = []
                for place in 0..<8 { chromaticities.append(try bytes.big(offset + 8 + 4 * place, 4) ?? 0) }
            case "eXIf" where rights.exif == nil:
                let exif = try Exif(&bytes, in: offset + 8..<offset + 8 + length)
                (header.orientation, rights.exif) = (exif.orientation ?? header.orientation, exif.rights)
            case "iTXt", "tEXt": try rights.read(pngText: offset + 8..<max(offset + 8, end - 4), &bytes)
            default:
                // Upper case: a decoder that does not know the chunk can't show the picture.
                guard kept.contains(type) || name.first.map({ $0 & 0x20 != 0 }) ?? false else {
                    throw .malformed(.png, reason: "it has an unknown critical chunk or damage at byte \(offset)")
                }
            }
            var wanted = kept.contains(type)
            if type == "iCCP" {
                // Decoders ignore a second profile.
                let profile = offset + 8..<max(offset + 8, end - 4)
                wanted = false
                if !hasProfile, let size = try profileBytes(&bytes, in: profile, limits) {
                    (header.profileBytes, wanted) = (size, size <= limits.profileBytes)
                }
                hasProfile = true
            }
            if wanted {
                if keep[keep.count - 1].upperBound == offset {
                    keep[keep.count - 1] = keep[keep.count - 1].lowerBound..<end
                } else {
                    guard keep.count < pieceLimit else {
                        throw .unsupportedFeature(.png, reason: "its pixels lie in more than \(pieceLimit) pieces")
                    }
                    keep.append(offset..<end)
                }
            }
            defer { offset = end }
            if type == "IEND" {
                (header.isTruncated, header.end) = (end < offset + 12, end)
                break
            }
        }
        guard data > 0 else { throw .malformed(.png, reason: "it ends before its pixels begin") }
        guard data <= most else {
            throw .unsupportedFeature(.png, reason: "it has far more data than pixels: \(data) bytes")
        }
        (header.rights, header.marked) = (rights.all, rights.marked)
        if header.colours == nil, !isNamed {
            header.colours = ColourCodes(gamma: gamma, chromaticities: chromaticities)
        }
        if keep.count > 1 || keep[0].upperBound < bytes.length { header.keep = keep }
        return header
    }

    /// Size, and the most bytes of data that this many pixels can need.
    private static func start(
        _ bytes: inout PictureBytes
    ) throws(RenderFailure) -> (PictureHeader, mostData: Int) {
        guard try bytes.has([0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52], at: 8), let width = try bytes.big(16, 4),
            let height = try bytes.big(20, 4), let depth = try bytes[24], let colour = try bytes[25],
            let interlace = try bytes[28]
        else { throw .malformed(.png, reason: "its first chunk is no whole IHDR") }
        var header = PictureHeader(stored: try PixelSize(width, height, of: .png))
        header.hasAlpha = colour == 4 || colour == 6
        let samples = [0: 1, 2: 3, 4: 2][colour] ?? 4
        let coding = interlace == 0 ? PictureCoding.rows : .interlaced(bytesPerPixel: samples * (depth == 16 ? 2 : 1))
        header.memory = coding.bytes(of: header.stored)
        // Limit of twice the pixels' size: even incompressible data needs no more. libpng also inflates data after the
        // last row, up to a thousand times its size, and drops it.
        let (most, isMore) = header.stored.height.multipliedReportingOverflow(by: width * samples * Int(depth) / 4 + 4)
        return (header, isMore ? .max : most.addingReportingOverflow(4096).partialValue)
    }

    /// Inflated size that a colour profile declares, which libpng uses, too; nil if it is no profile.
    private static func profileBytes(
        _ bytes: inout PictureBytes, in profile: Range<Int>, _ limits: RenderLimits
    ) throws(RenderFailure) -> Int? {
        guard profile.count <= limits.profileBytes else { return profile.count }
        guard let head = try bytes.bytes(profile.lowerBound, min(profile.count, 4096)),
            let name = head.firstIndex(of: 0), name - head.startIndex < 80,
            let size = Inflate.prefix(4, ofZlib: head.dropFirst(name - head.startIndex + 2))
        else { return nil }
        return size.reduce(0) { $0 << 8 | Int($1) }
    }
}
