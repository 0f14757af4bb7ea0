internal import Images

/// Copyright metadata found in the blocks of a file.
///
/// Editors' entries take precedence over cameras': XMP, then IPTC, EXIF and a PNG's text. The first block of
/// each kind is read.
struct FoundRights {
    var xmp: PictureRights?
    var iptc: PictureRights?
    var exif: PictureRights?
    var text = PictureRights()
    /// Regions of the first packet that marks any.
    private(set) var marked = MarkedRegions()
    private var texts = 0

    var all: PictureRights {
        [iptc, exif, text].reduce(xmp ?? PictureRights()) { $1.map($0.filled) ?? $0 }
    }

    private var packets = 0
    /// Most blocks to read that may be XMP.
    private static let packetsLimit = 4
    /// Bytes of an XMP packet that are read: a JPEG's segment holds no more.
    static let packetLimit = 64 << 10

    mutating func read(
        xmp range: Range<Int>, _ bytes: inout PictureBytes, coding: BlockCoding = .plain
    ) throws(RenderFailure) {
        packets += 1
        guard xmp == nil, packets <= Self.packetsLimit,
            let read = try bytes.bytes(range.lowerBound, min(range.count, Self.packetLimit)),
            let packet = coding.prefix(Self.packetLimit, of: read)
        else { return }
        let (rights, marked) = XMPReader.read(packet[...])
        if !rights.isEmpty { xmp = rights }
        if self.marked.isEmpty { self.marked = marked }
    }

    /// - Parameter block: a JPEG's segment after `Photoshop 3.0\0`.
    mutating func read(photoshop block: Range<Int>, _ bytes: inout PictureBytes) throws(RenderFailure) {
        guard iptc == nil, let segment = try bytes.bytes(block.lowerBound, block.count) else { return }
        iptc = IPTCReader.rights(inPhotoshop: segment)
    }

    /// - Parameter block: a record without Photoshop's resources around it.
    mutating func read(iptc block: Range<Int>, _ bytes: inout PictureBytes) throws(RenderFailure) {
        guard iptc == nil, let record = try bytes.bytes(block.lowerBound, min(block.count, Self.packetLimit)) else {
            return
        }
        iptc = IPTCReader.rights(in: record)
    }

    /// Decodes UTF-8, or Latin-1 if the bytes are no valid UTF-8: EXIF and IPTC contain both.
    static func text(_ bytes: some Collection<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

extension FoundRights {
    /// Most text chunks of a PNG that are read.
    private static let textLimit = 64

    /// - Parameter chunk: the data of an iTXt or a tEXt, which begin with a keyword.
    mutating func read(pngText chunk: Range<Int>, _ bytes: inout PictureBytes) throws(RenderFailure) {
        texts += 1
        guard texts <= Self.textLimit, let data = try bytes.bytes(chunk.lowerBound, min(chunk.count, 1024)) else {
            return
        }
        // After its keyword, an iTXt has its compression flag, its compression method and its language.
        let packet = Array("XML:com.adobe.xmp\0\0\0\0\0".utf8)
        let compressed = Array("XML:com.adobe.xmp\0\u{1}\0\0\0".utf8)
        if data.starts(with: packet) {
            try read(xmp: chunk.dropFirst(packet.count), &bytes)
        } else if data.starts(with: compressed) {
            try read(xmp: chunk.dropFirst(compressed.count), &bytes, coding: .zlib)
        } else if data.starts(with: "Author\0".utf8) {
            text.creator = Self.text(data.dropFirst(7))
        } else if data.starts(with: "Copyright\0".utf8) {
            text.notice = Self.text(data.dropFirst(10))
        }
    }
}
