internal import Foundation
internal import Images
internal import TestPixels
internal import Testing
internal import VariantSpec

@testable internal import ImageHeaders
@testable internal import RenderKit
@testable internal import RenderProtocol

@Suite("Rights: whose a picture is, as its file says it", .timeLimit(.minutes(1)))
struct RightsTests {
    private static let all = PictureRights(
        creator: "Ada Byron", credit: "Example Agency", notice: "© 2026 Example, all rights reserved",
        sourceType: "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia")
    private static let names =
        "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:dc='http://purl.org/dc/elements/1.1/'"
        + " xmlns:photoshop='http://ns.adobe.com/photoshop/1.0/' xmlns:x='adobe:ns:meta/'"
        + " xmlns:Iptc4xmpExt='http://iptc.org/std/Iptc4xmpExt/2008-02-29/'"

    private static func packet(_ description: String, names: String = names) -> [UInt8] {
        Array("<x:xmpmeta \(names)><rdf:RDF>\(description)</rdf:RDF></x:xmpmeta>".utf8)
    }

    @Test(
        "XMP: attributes and elements, lists and languages, references, any prefix, and what is said of the picture itself",
        arguments: [
            ("<rdf:Description dc:rights='A &amp; B'/>", PictureRights(notice: "A & B")),
            (
                "<rdf:Description><dc:rights>A &lt;b&gt; &#233;&#xE9; &nbsp;</dc:rights></rdf:Description>",
                PictureRights(notice: "A <b> éé &nbsp;")
            ),
            (
                "<rdf:Description><dc:rights><rdf:Alt><rdf:li xml:lang='de'>alle</rdf:li><rdf:li xml:lang='x-default'>all</rdf:li></rdf:Alt></dc:rights></rdf:Description>",
                PictureRights(notice: "all")
            ),
            (
                "<rdf:Description photoshop:Credit='C'><dc:creator><rdf:Seq>\n <rdf:li>A</rdf:li>\n <rdf:li>B</rdf:li>\n</rdf:Seq></dc:creator></rdf:Description>",
                PictureRights(creator: "A; B", credit: "C")
            ),
            // Two descriptions, and a comment between them.
            (
                "<rdf:Description dc:rights='A'/><!-- <rdf:Description photoshop:Credit='no'/> --><rdf:Description photoshop:Credit='C'/>",
                PictureRights(credit: "C", notice: "A")
            ),
            // What a picture was made of has rights of its own.
            (
                "<rdf:Description><xmpMM:Pantry><rdf:Bag><rdf:li><rdf:Description dc:rights='no'><dc:creator>no</dc:creator></rdf:Description></rdf:li></rdf:Bag></xmpMM:Pantry><dc:rights>A</dc:rights></rdf:Description>",
                PictureRights(notice: "A")
            ),
            (
                "<rdf:Description Iptc4xmpExt:DigitalSourceType='https://cv.iptc.org/newscodes/digitalsourcetype/compositeSynthetic'/>",
                PictureRights(sourceType: "http://cv.iptc.org/newscodes/digitalsourcetype/compositeSynthetic")
            ),
            ("<rdf:Description Iptc4xmpExt:DigitalSourceType='http://example.com/AI'/>", PictureRights()),
            // Seen to fail: a URI as XMP writes one.
            (
                "<rdf:Description><Iptc4xmpExt:DigitalSourceType rdf:resource='http://cv.iptc.org/newscodes/digitalsourcetype/compositeSynthetic'/></rdf:Description>",
                PictureRights(sourceType: "http://cv.iptc.org/newscodes/digitalsourcetype/compositeSynthetic")
            ),
            // Of a list that is empty, and of a tag's end in quotes.
            ("<rdf:Description><dc:rights><rdf:Alt/></dc:rights></rdf:Description>", PictureRights()),
            ("<rdf:Description a='>' dc:rights='A>B'/>", PictureRights(notice: "A>B")),
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><rdf:Description dc:rights='A'/>", PictureRights()),
        ])
    func xmp(description: String, rights: PictureRights) {
        #expect(XMPReader.read(Self.packet(description)[...]).rights == rights)
    }

    @Test("XMP with other prefixes than the usual ones, and with the usual ones for something else")
    func prefixes() {
        let other =
            "xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:d='http://purl.org/dc/elements/1.1/' xmlns:dc='urn:x'"
        let text = "<r:RDF \(other)><r:Description d:rights='A' dc:creator='no'/></r:RDF>"
        #expect(XMPReader.read(Array(text.utf8)[...]).rights == PictureRights(notice: "A"))
    }

    @Test("A packet that we write reads as what was written, within 2 KiB, whatever the texts are")
    func packets() throws {
        let hostile = String(repeating: "<\"&'>", count: 2_000)
        let texts = [
            Self.all, PictureRights(notice: "A"), PictureRights(sourceType: Self.all.sourceType),
            PictureRights(creator: hostile, credit: hostile, notice: hostile, sourceType: Self.all.sourceType),
            PictureRights(creator: String(repeating: "漢", count: 999), notice: String(repeating: "é ", count: 999)),
        ]
        for rights in texts {
            let packet = try #require(rights.packet)
            #expect(packet.count <= PictureRights.packetLimit)
            #expect(XMPReader.read(packet[...]).rights == rights)
            for length in packet.indices { _ = XMPReader.read(packet[..<length]).rights }
        }
        #expect(PictureRights().packet == nil)
    }

    @Test(
        "A text is one line, without what a reader would obey",
        arguments: [
            (" A\n\tB  C ", "A B C"), ("A\u{0}B\u{1b}[31m", "A B [31m"), ("\u{FFFE}A\u{FFFF}", "A"), ("\u{2028}", ""),
        ])
    func lines(text: String, line: String) { #expect(PictureRights(notice: text).notice == line) }

    private static func dataset(_ kind: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [0x1c, 2, kind] + Samples.big(bytes.count, 2) + bytes
    }
    private static func resource(_ id: Int, _ bytes: [UInt8], name: String = "") -> [UInt8] {
        var head = Array("8BIM".utf8) + Samples.big(id, 2) + [UInt8(name.utf8.count)] + Array(name.utf8)
        if name.utf8.count % 2 == 0 { head.append(0) }
        return head + Samples.big(bytes.count, 4) + bytes + (bytes.count % 2 == 1 ? [0] : [])
    }
    private static func photoshop(_ bytes: [UInt8]) -> [UInt8] {
        Samples.segment(0xed, Array("Photoshop 3.0\0".utf8) + bytes)
    }
    private static func exif(_ creator: String, _ notice: String) -> [UInt8] {
        let (creator, notice) = (Array(creator.utf8) + [0], Array(notice.utf8) + [0])
        var bytes = Array("II".utf8) + Samples.little(42, 2) + Samples.little(8, 4) + Samples.little(2, 2)
        for (tag, text, place) in [(0x013b, creator, 38), (0x8298, notice, 38 + creator.count)] {
            bytes += Samples.little(tag, 2) + Samples.little(2, 2) + Samples.little(text.count, 4)
            bytes += text.count <= 4 ? text + [UInt8](repeating: 0, count: 4 - text.count) : Samples.little(place, 4)
        }
        return bytes + Samples.little(0, 4) + creator + notice
    }

    private static func rights(_ bytes: [UInt8]) throws -> PictureRights {
        try PictureInspector().inspect(Samples.file(bytes)).facts.rights
    }

    @Test("IPTC: by-lines, credit and notice, in UTF-8 and Latin-1, behind other resources; damage ends the reading")
    func iptc() throws {
        let record =
            Self.dataset(80, Array("Ada".utf8)) + Self.dataset(80, Array("Bob".utf8)) + Self.dataset(25, [1])
            + Self.dataset(110, [0x45, 0xe9]) + Self.dataset(116, Array("© E".utf8))
        let block = Self.resource(0x03ed, [1, 2, 3], name: "abc") + Self.resource(0x0404, record)
        let found = PictureRights(creator: "Ada; Bob", credit: "Eé", notice: "© E")
        #expect(try Self.rights(Samples.jpeg(width: 8, height: 8, segments: [Self.photoshop(block)])) == found)
        let cut = Self.resource(0x0404, Self.dataset(116, [65]) + [0x1c, 2, 110, 0, 9, 1])
        #expect(IPTCReader.rights(inPhotoshop: cut[...]) == PictureRights(notice: "A"))
        for length in block.indices { _ = IPTCReader.rights(inPhotoshop: block[..<length]) }
    }

    @Test("EXIF: artist and notice, the editor's where the photographer's is blank")
    func exif() throws {
        let segment = Samples.segment(0xe1, Array("Exif\0\0".utf8) + Self.exif("Ada", "A"))
        #expect(
            try Self.rights(Samples.jpeg(width: 8, height: 8, segments: [segment]))
                == PictureRights(creator: "Ada", notice: "A"))
        let editor = Samples.segment(0xe1, Array("Exif\0\0".utf8) + Self.exif("A longer name", " \0Editor"))
        #expect(
            try Self.rights(Samples.jpeg(width: 8, height: 8, segments: [editor]))
                == PictureRights(creator: "A longer name", notice: "Editor"))
    }

    @Test("The editor's word counts before the camera's, text by text, in whatever order the blocks come")
    func order() throws {
        let exif = Samples.segment(0xe1, Array("Exif\0\0".utf8) + Self.exif("camera", "camera"))
        let iptc = Self.photoshop(
            Self.resource(0x0404, Self.dataset(80, Array("agency".utf8)) + Self.dataset(110, Array("agency".utf8))))
        let xmp = Samples.segment(
            0xe1,
            Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Self.packet("<rdf:Description photoshop:Credit='editor'/>"))
        let found = PictureRights(creator: "agency", credit: "editor", notice: "camera")
        for segments in [[exif, iptc, xmp], [xmp, iptc, exif]] {
            #expect(try Self.rights(Samples.jpeg(width: 8, height: 8, segments: segments)) == found)
        }
    }

    @Test("PNG, WebP and GIF: XMP, EXIF and a PNG's text, before and behind the pixels")
    func containers() throws {
        let xmp = try #require(Self.all.packet)
        let chunk = Pixels.chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + xmp)
        #expect(try Self.rights(Samples.png(width: 8, height: 8, before: chunk)) == Self.all)
        #expect(try Self.rights(Samples.png(width: 8, height: 8, after: chunk)) == Self.all)
        // Seen to fail: compressed.
        let compressed = Pixels.chunk("iTXt", Array("XML:com.adobe.xmp\0\u{1}\0\0\0".utf8) + Samples.zlib(Array(xmp)))
        #expect(try Self.rights(Samples.png(width: 8, height: 8, before: compressed)) == Self.all)
        let text =
            Pixels.chunk("tEXt", Array("Author\0Ada".utf8)) + Pixels.chunk("tEXt", Array("Copyright\0".utf8) + [0xa9])
        #expect(
            try Self.rights(Samples.png(width: 8, height: 8, before: text))
                == PictureRights(creator: "Ada", notice: "©"))
        let exif = Pixels.chunk("eXIf", Self.exif("Ada", "A"))
        #expect(
            try Self.rights(Samples.png(width: 8, height: 8, after: exif)) == PictureRights(creator: "Ada", notice: "A")
        )
        let head = Samples.chunk("VP8X", [4, 0, 0, 0, 7, 0, 0, 7, 0, 0])
        #expect(try Self.rights(Samples.riff(head + Samples.chunk("XMP ", xmp))) == Self.all)
        let gif = MetadataBlock.added(xmp, to: Samples.gif(width: 8, height: 8, frames: 2), .gif)
        #expect(try Self.rights(gif) == Self.all)
        #expect(try PictureInspector().inspect(Samples.file(gif), isOutput: true).facts.frames == 2)
    }

    /// Seen to fail: they were not read.
    @Test("JPEG XL: boxes before and after the image, of both lengths, and one without a length")
    func boxes() throws {
        let (exif, xmp) = ([0, 0, 0, 0] + Self.exif("Ada", "A"), try #require(PictureRights(credit: "C").packet))
        let image = Bombs.box("jxlc", [0xff, 0x0a, 0x41, 0x02])
        let long = [0, 0, 0, 1] + Array("xml ".utf8) + Samples.big(0, 4) + Samples.big(xmp.count + 16, 4) + xmp
        let open = [0, 0, 0, 0] + Array("xml ".utf8) + xmp
        for boxes in [
            Bombs.box("Exif", exif) + image + Bombs.box("xml ", xmp), long + Bombs.box("Exif", exif) + image,
            image + Bombs.box("Exif", exif) + open,
        ] {
            let facts = try PictureInspector(limits: RenderLimits(formats: [.jxl]))
                .inspect(Samples.file(Self.jxlStart + boxes)).facts
            #expect(facts.size == PixelSize(width: 8, height: 8))
            #expect(facts.rights == PictureRights(creator: "Ada", credit: "C", notice: "A"))
        }
    }

    private static let jxlStart =
        Bombs.box("JXL ", [13, 10, 0x87, 10]) + Bombs.box("ftyp", Array("jxl \0\0\0\0jxl ".utf8))

    /// A compressed box of a JPEG XL.
    private static func packed(_ type: String, _ stream: [UInt8]) -> [UInt8] {
        Bombs.box("brob", Array(type.utf8) + stream)
    }
    private static func base64(_ text: String) -> [UInt8] { Array(Data(base64Encoded: text) ?? Data()) }
    /// By Debian's brotli at its highest effort: the bytes of `exif("Ada", "A")` behind their offset, and a packet with
    /// the credit "C", which takes words of the format's dictionary.
    private static let packedExif = base64("oXgBwH+cLBNm9cbzuXv3l1Gg0eEJtqVQIQiWJCPFCA9mNohTsdDv+iNoQAM=")
    private static let packedXMP = base64(
        "H+MAIOT/zpHemn4drur5wNoqVT1gXgvNlh1oQofn+uR0hqlft4m3r1OGDenpiaDP8PO/eZvHq70qan2RN67uOzIdeXF4DJPflHWRAU80"
            + "BbdzhIk1aQ3WwfkvV/vBcloc5/4GiA8UOzxiqgs5RV/Lic1QXlXsJMjkKSj9Hxq2FB7FIXVrgdYWMQ==")
    /// The same packet and 64 MiB of spaces, of a window of 16 MiB.
    private static let packedBomb = base64(
        "z///fwCM02U25DHKHs6l+nsCtsWblS6iJYW37QiY991uu6XJIOAo7S6KYeqBWLpNvH2ElowZfj0S9Oi0zttcX/msqNk1+9Usx62KTM85"
            + "qsaSZFmAXG4bnC4SJiZICLAKzn+58g+WUyXZC3QJoxeKbSYzax3duvHncqIaOl9NWYkjI1PCwvqiYT02h0IVubDS4n61/b8nBf7/"
            + "/8MvARCHBQC69//8//+HXwIgDosAdO//+f//D78EQBwWAOje/8c4AH4JgBgsAPAA")

    /// A JPEG XL of 8 by 8 pixels with compressed metadata.
    static let packedJXL =
        jxlStart + Bombs.box("jxlc", [0xff, 0x0a, 0x41, 0x02]) + packed("Exif", packedExif) + packed("xml ", packedXMP)

    /// Seen to fail: `cjxl` compresses the metadata of every JPEG that it recodes, and it was lost.
    @Test(
        "JPEG XL: compressed boxes; those that expand without end, are cut or damaged cost little, and no image",
        arguments: [
            (
                packed("Exif", packedExif) + packed("xml ", packedXMP),
                PictureRights(creator: "Ada", credit: "C", notice: "A")
            ),
            (
                packed("xml ", packedBomb) + packed("Exif", packedExif),
                PictureRights(creator: "Ada", credit: "C", notice: "A")
            ),
            (packed("xml ", packedXMP.dropLast(4)), PictureRights(credit: "C")),
            (packed("Exif", Array(packedXMP.reversed())) + packed("xml ", packedXMP), PictureRights(credit: "C")),
            // The first Exif counts, and no more than four boxes of XMP are read.
            (packed("Exif", [0xff]) + packed("Exif", packedExif), PictureRights()),
            (
                Array(repeatElement(packed("xml ", [0xff]), count: 4).joined()) + packed("xml ", packedXMP),
                PictureRights()
            ),
            (packed("xml ", []) + Bombs.box("brob", [0x78]) + packed("jxlc", packedXMP), PictureRights()),
        ])
    func packedBoxes(boxes: [UInt8], rights: PictureRights) throws {
        let file = Self.jxlStart + boxes + Bombs.box("jxlc", [0xff, 0x0a, 0x41, 0x02])
        let facts = try PictureInspector(limits: RenderLimits(formats: [.jxl])).inspect(Samples.file(file)).facts
        #expect(facts.size == PixelSize(width: 8, height: 8))
        #expect(facts.rights == rights)
    }

    @Test("TIFF: artist, notice, an XMP packet and an IPTC record in its directory, in both orders of bytes")
    func tiff() throws {
        let (packet, record) = (try #require(PictureRights(credit: "X").packet), Self.dataset(80, Array("Ada".utf8)))
        for isBig in [true, false] {
            let number = isBig ? Samples.big : Samples.little
            let place = 8 + 2 + 5 * 12 + 4
            var bytes = Array((isBig ? "MM" : "II").utf8) + number(42, 2) + number(8, 4) + number(5, 2)
            let fields = [
                (256, 4, 1, 8), (257, 4, 1, 8), (0x02bc, 1, packet.count, place), (0x8298, 2, 2, 0),
                (0x83bb, 7, record.count, place + packet.count),
            ]
            for (tag, kind, count, value) in fields {
                bytes +=
                    number(tag, 2) + number(kind, 2) + number(count, 4)
                    + (kind == 2 ? [65, 0, 0, 0] : number(value, 4))
            }
            bytes += number(0, 4) + packet + record
            let facts = try PictureInspector(limits: RenderLimits(formats: [.tiff])).inspect(Samples.file(bytes)).facts
            #expect(facts.rights == PictureRights(creator: "Ada", credit: "X", notice: "A"))
        }
    }

    @Test("10 MB of metadata of any kind cost a header little, and change nothing")
    func large() throws {
        let filler = [UInt8](repeating: UInt8(ascii: "<"), count: 10 << 20)
        let png = Samples.png(
            width: 8, height: 8, before: Pixels.chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + filler))
        let segment = Samples.segment(0xe1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + filler.prefix(65_000))
        let ipct = Self.photoshop(Self.resource(0x0404, (0..<10_000).flatMap { _ in Self.dataset(80, [65]) }))
        let jpeg = Samples.jpeg(width: 8, height: 8, segments: [ipct] + [[UInt8]](repeating: segment, count: 160))
        let webp = Samples.riff(Samples.chunk("VP8X", [4, 0, 0, 0, 7, 0, 0, 7, 0, 0]) + Samples.chunk("XMP ", filler))
        let gif =
            Array(Samples.gif(width: 8, height: 8, frames: 1).dropLast()) + [0x21, 0xff, 11] + Array("XMP DataXMP".utf8)
        for bytes in [png, jpeg, webp, gif + filler] {
            var read = PictureBytes(try Samples.file(bytes))
            let header = try PictureInspector().header(of: &read).1
            #expect(header.stored == PixelSize(width: 8, height: 8))
            #expect(read.bytesRead < bytes.count + 1 << 20)
        }
    }
}
