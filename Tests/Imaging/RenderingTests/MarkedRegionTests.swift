internal import Images
internal import TestPixels
internal import Testing
internal import VariantSpec

@testable internal import ImageHeaders
@testable internal import RenderProtocol

@Suite("Regions that a source's metadata mark", .timeLimit(.minutes(1)))
struct MarkedRegionTests {
    private static let names =
        "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:x='adobe:ns:meta/'"
        + " xmlns:mwg-rs='http://www.metadataworkinggroup.com/schemas/regions/'"
        + " xmlns:stArea='http://ns.adobe.com/xmp/sType/Area#'"
        + " xmlns:stDim='http://ns.adobe.com/xap/1.0/sType/Dimensions#'"
        + " xmlns:MP='http://ns.microsoft.com/photo/1.2/' xmlns:MPRI='http://ns.microsoft.com/photo/1.2/t/RegionInfo#'"
        + " xmlns:MPReg='http://ns.microsoft.com/photo/1.2/t/Region#'"

    private static func list(_ items: String, size: String = "") -> String {
        "<mwg-rs:Regions rdf:parseType='Resource'>\(size)<mwg-rs:RegionList><rdf:Bag>\(items)</rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>"
    }

    private static func face(_ x: Double, _ y: Double, _ width: Double, _ height: Double, type: String = "Face")
        -> String
    {
        "<rdf:li><rdf:Description mwg-rs:Name='A' mwg-rs:Type='\(type)'><mwg-rs:Area stArea:x='\(x)' stArea:y='\(y)' stArea:w='\(width)' stArea:h='\(height)' stArea:unit='normalized'/></rdf:Description></rdf:li>"
    }

    private static func packet(_ properties: String) -> [UInt8] {
        Array(
            "<x:xmpmeta \(names)><rdf:RDF><rdf:Description>\(properties)</rdf:Description></rdf:RDF></x:xmpmeta>".utf8)
    }

    private static func regions(_ properties: String, width: Int = 400, height: Int = 300, orientation: Int = 1) throws
        -> [[Int]]
    {
        let segment = Samples.segment(0xe1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + packet(properties))
        let jpeg = Samples.jpeg(width: width, height: height, segments: [Samples.exif(orientation), segment])
        return try PictureInspector().inspect(Samples.file(jpeg)).facts.regions.map(\.numbers)
    }

    @Test(
        "Faces and pets of the Metadata Working Group, people of Microsoft; each around its middle, or from its corner",
        arguments: [
            (list(face(0.25, 0.5, 0.1, 0.2)), [[200, 400, 100, 200]]),
            (
                list(face(0.2, 0.3, 0.1, 0.2) + face(0.8, 0.5, 0.2, 0.2, type: "Pet")),
                [[150, 200, 100, 200], [700, 400, 200, 200]]
            ),
            (list(face(0.2, 0.3, 0.1, 0.2) + face(0.8, 0.5, 0.2, 0.2, type: "Focus")), [[150, 200, 100, 200]]),
            // As elements, and a circle.
            (
                list(
                    "<rdf:li rdf:parseType='Resource'><mwg-rs:Type>Face</mwg-rs:Type><mwg-rs:Area rdf:parseType='Resource'><stArea:x>0.5</stArea:x><stArea:y>0.25</stArea:y><stArea:d>0.1</stArea:d></mwg-rs:Area></rdf:li>"
                ),
                [[450, 200, 100, 100]]
            ),
            (
                "<MP:RegionInfo><rdf:Description><MPRI:Regions><rdf:Bag><rdf:li MPReg:Rectangle='0.1, 0.2, 0.4, 0.2' MPReg:PersonDisplayName='A'/></rdf:Bag></MPRI:Regions></rdf:Description></MP:RegionInfo>",
                [[100, 200, 400, 200]]
            ),
            // A region with lists of its own, before and behind its place.
            (
                list(
                    "<rdf:li rdf:parseType='Resource'><mwg-rs:Extensions><rdf:Bag><rdf:li>a</rdf:li><rdf:li/></rdf:Bag></mwg-rs:Extensions><mwg-rs:Area stArea:x='0.2' stArea:y='0.3' stArea:w='0.1' stArea:h='0.2'/><mwg-rs:BarCodeValue><rdf:Bag><rdf:li>b</rdf:li></rdf:Bag></mwg-rs:BarCodeValue></rdf:li>"
                ),
                [[150, 200, 100, 200]]
            ),
            // Of a picture of this shape, and of one that was cut since.
            (
                list(
                    face(0.25, 0.5, 0.1, 0.2),
                    size: "<mwg-rs:AppliedToDimensions stDim:w='800' stDim:h='600' stDim:unit='pixel'/>"),
                [[200, 400, 100, 200]]
            ),
            (
                list(
                    face(0.25, 0.5, 0.1, 0.2),
                    size: "<mwg-rs:AppliedToDimensions stDim:w='800' stDim:h='800' stDim:unit='pixel'/>"), []
            ),
            // Nothing of the picture, no numbers, pixels, and what another picture marks.
            (list(face(1.5, 0.5, 0.1, 0.2)), []), (list("<rdf:li/>"), []), ("", []),
            (list(face(0.5, 0.5, 0.1, 0.2)).replacing("normalized", with: "pixel"), []),
            ("<xmpMM:Pantry><rdf:Bag><rdf:li>\(list(face(0.5, 0.5, 0.1, 0.2)))</rdf:li></rdf:Bag></xmpMM:Pantry>", []),
        ] as [(String, [[Int]])])
    func marked(properties: String, regions: [[Int]]) throws {
        #expect(try Self.regions(properties) == regions)
    }

    private static func middles(_ regions: [[Int]]) -> [[Int]] {
        regions.map { [$0[0] + $0[2] / 2, $0[1] + $0[3] / 2] }
    }

    /// A quarter up from the left lower corner of what is stored, as each orientation shows it.
    @Test(
        "Regions are of the stored pixels, whatever the orientation",
        arguments: [
            (1, 250, 900), (2, 750, 900), (3, 750, 100), (4, 250, 100), (5, 900, 250), (6, 100, 250), (7, 100, 750),
            (8, 900, 750),
        ])
    func orientation(orientation: Int, x: Int, y: Int) throws {
        #expect(
            Self.middles(try Self.regions(Self.list(Self.face(0.25, 0.9, 0.1, 0.1)), orientation: orientation)) == [
                [x, y]
            ])
    }

    /// The same place in an AVIF's coded pixels. Seen to fail: any turn dropped it, an angle of 0 too.
    @Test(
        "Regions of an AVIF are turned and mirrored as its decoder does it, in order; those of a cut one are dropped",
        arguments: [
            ([], [250, 900]), ([("irot", 0)], [250, 900]), ([("irot", 1)], [900, 750]), ([("irot", 2)], [750, 100]),
            ([("irot", 3)], [100, 250]), ([("imir", 0)], [250, 100]), ([("imir", 1)], [750, 900]),
            ([("irot", 1), ("imir", 1)], [100, 750]), ([("imir", 1), ("irot", 1)], [900, 250]), ([("clap", 1)], nil),
        ] as [([(type: String, value: UInt8)], [Int]?)])
    func transforms(transforms: [(type: String, value: UInt8)], point: [Int]?) throws {
        let size = "<mwg-rs:AppliedToDimensions stDim:w='400' stDim:h='300' stDim:unit='pixel'/>"
        let packet = Self.packet(Self.list(Self.face(0.25, 0.9, 0.1, 0.1), size: size))
        let turns = transforms.map { transform in
            transform.type == "clap"
                ? Bombs.box("clap", [300, 1, 200, 1, 0, 1, 0, 1].flatMap { Samples.big($0, 4) })
                : Bombs.box(transform.type, [transform.value])
        }
        let facts = try PictureInspector().inspect(Samples.file(Self.avif(turns, packet))).facts
        #expect(Self.middles(facts.regions.map(\.numbers)) == (point.map { [$0] } ?? []))
    }

    /// 400 by 300, with properties and an XMP packet.
    private static func avif(_ properties: [[UInt8]], _ packet: [UInt8]) -> [UInt8] {
        let (big, box) = (Samples.big, Bombs.box)
        let size = box("ispe", big(0, 4) + big(400, 4) + big(300, 4))
        let numbers = (1...properties.count + 1).map { UInt8($0) }
        let links = box("ipma", big(0, 4) + big(1, 4) + big(1, 2) + [UInt8(numbers.count)] + numbers)
        let name = box("infe", [2, 0, 0, 0] + big(2, 2) + big(0, 2) + Array("mime\0application/rdf+xml\0".utf8))
        func meta(_ start: Int) -> [UInt8] {
            let place = big(0, 4) + [0x44, 0] + big(1, 2) + big(2, 2) + big(0, 2) + big(1, 2)
            return box(
                "meta",
                big(0, 4) + box("pitm", big(0, 4) + big(1, 2)) + box("iinf", big(0, 4) + big(1, 2) + name)
                    + box("iloc", place + big(start, 4) + big(packet.count, 4))
                    + box("iprp", box("ipco", size + properties.flatMap { $0 }) + links))
        }
        let head = box("ftyp", Array("avif".utf8) + big(0, 4) + Array("avif".utf8))
        return head + meta(head.count + meta(0).count + 8) + box("mdat", packet)
    }

    @Test(
        "A crop of what is stored in an orientation, back and forth, is the same region",
        arguments: Orientation.allCases)
    func inverse(orientation: Orientation) throws {
        let stored = PixelSize(width: 400, height: 300)
        let region = try #require(KeptRegion(x: 0.125, y: 0.25, width: 0.25, height: 0.125))
        let upright = orientation.upright(region)
        let shown = orientation.upright(stored)
        let back = orientation.stored(
            Region(
                x: Double(upright.x * shown.width) / 1000, y: Double(upright.y * shown.height) / 1000,
                width: Double(upright.width * shown.width) / 1000, height: Double(upright.height * shown.height) / 1000),
            of: shown)
        #expect(back == Region(x: 50, y: 75, width: 100, height: 37.5))
    }

    @Test("Packets cut anywhere, and a thousand regions, are read as far as they go")
    func hostile() throws {
        let whole = Array(
            "<x:xmpmeta \(Self.names)><rdf:RDF><rdf:Description>\(Self.list(String(repeating: Self.face(0.5, 0.5, 0.1, 0.1), count: 1_000)))"
                .utf8)
        let size = PixelSize(width: 9, height: 9)
        #expect(XMPReader.read(whole[...]).marked.regions(of: size).count == KeptRegion.limit)
        for length in stride(from: 0, to: 2_000, by: 1) {
            #expect(XMPReader.read(whole[..<length]).marked.regions(of: size).count <= KeptRegion.limit)
        }
    }
}
