import Canonical
import Foundation
import ImageModel
import Records
import TestPixels
import TestSupport
import Testing
import VariantSpec
import WorkerRuntime

@Suite("Regions in kept originals", .timeLimit(.minutes(2)))
struct MarkedOriginalTests {
    private static func packet(_ faces: [(x: Double, width: Double)]) -> [UInt8] {
        let items = faces.map {
            "<rdf:li><rdf:Description mwg-rs:Type='Face'><mwg-rs:Area stArea:x='\($0.x)' stArea:y='0.5' stArea:w='\($0.width)' stArea:h='0.2' stArea:unit='normalized'/></rdf:Description></rdf:li>"
        }
        let packet =
            "<x:xmpmeta xmlns:x='adobe:ns:meta/' xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:mwg-rs='http://www.metadataworkinggroup.com/schemas/regions/' xmlns:stArea='http://ns.adobe.com/xmp/sType/Area#'><rdf:RDF><rdf:Description><mwg-rs:Regions rdf:parseType='Resource'><mwg-rs:RegionList><rdf:Bag>\(items.joined())</rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions></rdf:Description></rdf:RDF></x:xmpmeta>"
        return Pixels.chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + Array(packet.utf8))
    }

    /// Seen to fail: without the inspected point the crop was the middle, from x = 100.
    @Test("If a source row has no focus, faces in the kept original's XMP steer a crop, without a fetch")
    func oldRow() async throws {
        let bench = try Bench()
        var picture = Pixels.photograph(width: 400, height: 200, seed: 3).png
        // Behind the signature and the header.
        picture.insert(contentsOf: Self.packet([(0.7, 0.1)]), at: 33)
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
        #expect(row.original != nil && row.regions.map(\.numbers) == [[650, 400, 100, 200]])
        (row.regions, row.isFocusKnown) = ([], false)
        try await work("160y160.jpg", [row.newRecord(partition: source.partition(of: 4))])
        let cropped = try #require(try await bench.rows(of: source)[bench.rules.spec(of: "160y160.jpg")])
        #expect(cropped.region == Region(x: 180, y: 0, width: 200, height: 200))
        #expect(cropped.isFromKept && bench.origin.requests(of: "/a.png") == 1)
    }

    /// The crop lay between them, from x = 140: they span less than a square crop shows.
    @Test("A crop holds one of two faces that it can't hold both, the same from a fetch and from a stored variant")
    func twoFaces() async throws {
        let bench = try Bench()
        var pixels = Pixels(width: 1_000, height: 400, channels: 3, bytes: [UInt8](repeating: 90, count: 1_200_000))
        for (left, channel) in [(100, 0), (450, 2)] {
            for y in 160..<240 { for x in left..<left + 30 { pixels.bytes[(y * 1_000 + x) * 3 + channel] = 250 } }
        }
        var picture = pixels.png
        picture.insert(contentsOf: Self.packet([(0.115, 0.03), (0.465, 0.03)]), at: 33)
        for path in ["/a.png", "/b.png"] { bench.origin.serve(path, .bytes(picture, type: "image/png")) }
        let crop = "300y400.png"
        for jobs in [[("/a.png", "full.png"), ("/b.png", crop)], [("/a.png", crop)]] {
            let log = try bench.log
            try await bench.publish(jobs.map { (bench.url($0.0), [$0.1], .fast) }, to: log)
            try await bench.work(log: log)
        }
        func row(_ path: String) async throws -> VariantRow {
            try #require(
                try await bench.rows(of: bench.rules.source(of: bench.url(path)).key)[bench.rules.spec(of: crop)])
        }
        let (reused, made) = (try await row("/a.png"), try await row("/b.png"))
        #expect(reused.derivedFrom == .donor(try bench.rules.spec(of: "full.png")) && made.derivedFrom == .origin)
        #expect(bench.origin.requests(of: "/a.png") == 1)
        #expect(made.region == Region(x: 0, y: 0, width: 300, height: 400) && reused.region == made.region)
        for row in [reused, made] {
            let file = try Data(contentsOf: URL(filePath: bench.folder.file("store/\(row.location)")))
            let shown = try #require(Pixels(png: Array(file)))
            #expect([99, 100, 129, 130].map { shown[$0, 200, 0] } == [90, 250, 250, 90])
        }
    }
}
