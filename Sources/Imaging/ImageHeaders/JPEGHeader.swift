internal import Images
internal import RenderProtocol
internal import VariantSpec

/// A JPEG's size, orientation and scans, from its markers.
enum JPEGHeader {
    static func read(_ bytes: inout PictureBytes, _ limits: RenderLimits) throws(RenderFailure) -> PictureHeader {
        var header: PictureHeader?
        var orientation = Orientation.upright
        var rights = FoundRights()
        var (scans, profileBytes) = (0, 0)
        var isWhole = false
        var coding = PictureCoding.rows
        var frame = Frame(coding: 0, components: 0, samples: 0, pixels: 1)
        var offset = 2
        while let marker = try next(&bytes, from: &offset) {
            if marker == 0xd9 {
                isWhole = true
                break
            }
            guard let length = try bytes.big(offset, 2), length >= 2 else { break }
            switch marker {
            case 0xc0...0xcf where marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
                guard header == nil else { throw .malformed(.jpeg, reason: "it has two frame headers") }
                (frame, header) = try start(&bytes, at: offset, coding: marker)
            case 0xf7 where header == nil:
                throw .unsupportedFeature(.jpeg, reason: "its coding is that of JPEG-LS")
            case 0xe1 where length >= 8:
                if rights.exif == nil, try bytes.has("Exif\0\0", at: offset + 2) {
                    let exif = try Exif(&bytes, in: offset + 8..<offset + length)
                    (orientation, rights.exif) = (exif.orientation ?? orientation, exif.rights)
                } else if length >= 31, try bytes.has("http://ns.adobe.com/xap/1.0/\0", at: offset + 2) {
                    try rights.read(xmp: offset + 31..<offset + length, &bytes)
                }
            case 0xe2 where length >= 16:
                if try bytes.has("ICC_PROFILE\0", at: offset + 2) { profileBytes += length - 16 }
            case 0xed where length >= 16:
                guard try bytes.has("Photoshop 3.0\0", at: offset + 2) else { break }
                try rights.read(photoshop: offset + 16..<offset + length, &bytes)
            case 0xda:
                scans += 1
                guard scans <= limits.scans else { throw .tooManyScans(limit: limits.scans) }
                // If the first scan has every component, decoders read no further.
                if scans == 1, !frame.isProgressive, let parts = try bytes[offset + 2], parts == frame.components {
                    isWhole = try hasEnd(&bytes, from: offset)
                    return try done()
                }
                // By the first of several scans, a decoder knows that more follow.
                coding = .coefficients(samples: frame.samples, pixels: frame.pixels)
            default: break
            }
            offset += length
        }
        return try done()

        func done() throws(RenderFailure) -> PictureHeader {
            guard var header else { throw .malformed(.jpeg, reason: "it ends before its size is told") }
            guard scans > 0 else { throw .malformed(.jpeg, reason: "it ends before its pixels begin") }
            (header.orientation, header.rights, header.marked) = (orientation, rights.all, rights.marked)
            // Damage may skip the end marker of a file that has one.
            if !isWhole { header.isTruncated = try !endsItself(&bytes) }
            header.profileBytes = profileBytes
            header.memory = coding.bytes(of: header.stored)
            return header
        }
    }

    /// Position after the marker that ends its last scan.
    static func end(of bytes: inout PictureBytes) throws(RenderFailure) -> Int? {
        var offset = 2
        while let marker = try next(&bytes, from: &offset) {
            if marker == 0xd9 { return offset }
            guard let length = try bytes.big(offset, 2), length >= 2 else { return nil }
            offset += length
        }
        return nil
    }

    /// Whether an end marker follows `offset`: at the file's end, or before data that cameras append.
    private static func hasEnd(_ bytes: inout PictureBytes, from offset: Int) throws(RenderFailure) -> Bool {
        if try endsItself(&bytes) { return true }
        var offset = offset
        while let marker = try next(&bytes, from: &offset) { if marker == 0xd9 { return true } }
        return false
    }

    private static func endsItself(_ bytes: inout PictureBytes) throws(RenderFailure) -> Bool {
        try bytes.has([0xff, 0xd9], at: bytes.length - 2)
    }

    private struct Frame {
        let coding: UInt8
        let components: UInt8
        /// Samples of all components, for each `pixels`.
        let samples: Int
        let pixels: Int
        var isProgressive: Bool { coding == 0xc2 || coding == 0xca }
    }

    /// The next marker at or after `offset`, skipping fill bytes, stuffed bytes and restarts; `offset` then follows it.
    private static func next(_ bytes: inout PictureBytes, from offset: inout Int) throws(RenderFailure) -> UInt8? {
        let found = try bytes.firstMarker(from: offset) { $0 > 1 && !(0xd0...0xd8).contains($0) }
        guard let found else { return nil }
        offset = found.place + 2
        return found.code
    }

    private static func start(
        _ bytes: inout PictureBytes, at offset: Int, coding: UInt8
    ) throws(RenderFailure) -> (Frame, PictureHeader) {
        guard let depth = try bytes[offset + 2], let height = try bytes.big(offset + 3, 2),
            let width = try bytes.big(offset + 5, 2), let components = try bytes[offset + 7]
        else { throw .malformed(.jpeg, reason: "it ends inside its frame header") }
        guard [0xc0, 0xc1, 0xc2, 0xc9, 0xca].contains(coding) else {
            throw .unsupportedFeature(.jpeg, reason: "its coding is SOF\(coding - 0xc0)")
        }
        // The format also allows twelve bits, and few decoders show two components.
        guard depth == 8 else {
            let reason = "it has \(depth) bits a sample, and 8 are read"
            throw depth == 12 ? .unsupportedFeature(.jpeg, reason: reason) : .malformed(.jpeg, reason: reason)
        }
        guard [1, 3, 4].contains(components) else {
            let reason = "it has \(components) components"
            throw components == 2 ? .unsupportedFeature(.jpeg, reason: reason) : .malformed(.jpeg, reason: reason)
        }
        var (samples, across, down) = (0, 1, 1)
        for component in 0..<Int(components) {
            guard let factors = try bytes[offset + 9 + 3 * component] else {
                throw .malformed(.jpeg, reason: "it ends inside its frame header")
            }
            let (horizontal, vertical) = (Int(factors >> 4), Int(factors & 15))
            samples += horizontal * vertical
            (across, down) = (max(across, horizontal), max(down, vertical))
        }
        return (
            Frame(coding: coding, components: components, samples: samples, pixels: across * down),
            PictureHeader(stored: try PixelSize(width, height, of: .jpeg))
        )
    }
}
