import Canonical
import ImageModel
import Records
import TestPixels
import TestSupport
import Testing
import VariantSpec
import WorkerRuntime

@Suite("Regions in kept originals", .timeLimit(.minutes(2)))
struct MarkedOriginalTests {
    private static let packet =
        "<x:xmpmeta xmlns:x='adobe:ns:meta/' xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:mwg-rs='http://www.metadataworkinggroup.com/schemas/regions/' xmlns:stArea='http://ns.adobe.com/xmp/sType/Area#'><rdf:RDF><rdf:Description><mwg-rs:Regions rdf:parseType='Resource'><mwg-rs:RegionList><rdf:Bag><rdf:li><rdf:Description mwg-rs:Type='Face'><mwg-rs:Area stArea:x='0.7' stArea:y='0.5' stArea:w='0.1' stArea:h='0.2' stArea:unit='normalized'/></rdf:Description></rdf:li></rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions></rdf:Description></rdf:RDF></x:xmpmeta>"

    /// Seen to fail: without the inspected point the crop was the middle, from x = 100.
    @Test("If a source row has no focus, faces in the kept original's XMP steer a crop, without a fetch")
    func oldRow() async throws {
        let bench = try Bench()
        var picture = Pixels.photograph(width: 400, height: 200, seed: 3).png
        // Behind the signature and the header.
        picture.insert(
            contentsOf: Pixels.chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + Array(Self.packet.utf8)),
            at: 33)
        bench.origin.serve("/a.png", .bytes(picture, type: "image/png"))
        let source = try bench.rules.source(of: bench.url("/a.png")).key
        func work(_ variant: String, _ before: [NewRecord] = []) async throws {
            let log = try bench.log
            if !before.isEmpty { try await bench.append(before, to: log) }
            try await bench.publish([(bench.url("/a.png"), [variant], .fast)], to: log)
            try await bench.work({ $0.originalsLimit = 10_000_000 }, log: log)
        }
        try await work("64x64.jpg")
        var row = try #require(try await bench.sourceRow(of: source))
        #expect(row.original != nil && row.focalPoint == FocalPoint(x: 700, y: 500))
        (row.focalPoint, row.isFocusKnown) = (nil, false)
        try await work("160y160.jpg", [row.newRecord(partition: source.partition(of: 4))])
        let cropped = try #require(try await bench.rows(of: source)[bench.rules.spec(of: "160y160.jpg")])
        #expect(cropped.region == Region(x: 180, y: 0, width: 200, height: 200))
        #expect(cropped.isFromKept && bench.origin.requests(of: "/a.png") == 1)
    }
}
