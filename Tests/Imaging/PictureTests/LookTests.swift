import Foundation
import ImageModel
import Ports
import Posix
import RendererPool
import TestPixels
import TestSupport
import Testing
import VariantSpec

@Suite("Pictures: drawings are told from photographs by the source's own pixels", .timeLimit(.minutes(2)))
struct LookTests {
    private static let screen = Drawing.numbered(4, width: 1_400, height: 1_000)

    private static func jpeg(_ pixels: Pixels, quality: Int = 90) async throws -> OpenFile {
        let png = try Workshop.file(pixels.png)
        return try Workshop.file(try await Workshop.make("full-q\(quality).jpg", of: png).content.bytes())
    }

    private static func look(_ spec: String, _ file: OpenFile, in pool: RendererPool = Workshop.libvips) async throws
        -> Bool?
    {
        try await Workshop.make(spec, of: file, in: pool).rendition.isOfDrawing
    }

    /// Seen to fail while finished variants were looked at: grey ones and cuts of a margin passed for photographs.
    @Test(
        "Cuts, effects and borders do not change whether an image counts as a drawing, with either engine",
        arguments: [
            "full.png", "full-q95.jpg", "800x800.webp", "800x800-grey.webp", "700y20-axis0_10.webp",
            "800x800-blur40.png",
            "900y900-pad.webp", "600y200-smart.webp", "600y400-trim.webp", "full-rotate90.png", "500x500.avif",
        ])
    func shown(spec: String) async throws {
        let photograph = try Workshop.file(Project.file("examples/mountains.jpg"))
        let (whole, halved) = (try await Self.jpeg(Self.screen), try await Self.jpeg(Self.screen, quality: 85))
        for (file, isDrawing) in [(photograph, false), (whole, true), (halved, true)] {
            #expect(try await Self.look(spec, file) == isDrawing)
            #expect(try await Self.look(spec, file, in: Workshop.everything) == isDrawing)
        }
    }

    @Test(
        "Pixels that only stream through an effect or a cut are not looked at",
        arguments: ["full-grey.png", "1400y200.png"])
    func streamed(spec: String) async throws {
        #expect(try await Self.look(spec, try await Self.jpeg(Self.screen)) == nil)
    }

    /// Seen to fail: no block was read, and they passed for photographs.
    @Test(
        "Images with too few rows or columns count as not looked at, with either engine",
        arguments: [(700, 7), (1, 700)])
    func few(width: Int, height: Int) async throws {
        let file = try await Self.jpeg(Pixels.photograph(width: width, height: height, seed: 6))
        for spec in ["full.webp", "2x2.webp", "full-q70.jpg"] {
            #expect(try await Self.look(spec, file) == nil, "\(spec)")
            #expect(try await Self.look(spec, file, in: Workshop.everything) == nil, "\(spec)")
        }
    }

    @Test("Formats that no camera writes and stored variants are not looked at, and grey has no colour edges")
    func others() async throws {
        #expect(try await Self.look("800x800.webp", try Workshop.file(Self.screen.png)) == nil)
        let jpeg = try await Self.jpeg(Self.screen)
        #expect(
            try await Workshop.make("800x800.webp", of: jpeg, in: Workshop.libvips, isReuse: true).rendition.isOfDrawing
                == nil)
        let grey = try await Workshop.make("full-q90-grey.jpg", of: jpeg, in: Workshop.libvips).content.bytes()
        #expect(try await Self.look("800x800.webp", try Workshop.file(grey)) == false)
    }

    @Test(
        "libvips sees in drawings and photographs what the direct path sees, except in two of 4:2:2",
        .enabled(if: Shared.has("images/photos"), Comment(rawValue: Shared.absent)))
    func both() async throws {
        var files = try Shared.pictures("photos").map { ($0.lastPathComponent, try Workshop.file($0)) }
        for number in 0..<Drawing.count {
            let pixels = Drawing.numbered(number, width: 1_400, height: 1_000)
            files.append(("\(number)", try await Self.jpeg(pixels, quality: number % 2 == 0 ? 85 : 90)))
        }
        var differing: Set<String> = []
        for (name, file) in files {
            for spec in ["full.webp", "500x500.webp"] {
                let direct = try await Self.look(spec, file, in: Workshop.everything)
                if try await Self.look(spec, file) != direct { differing.insert(name) }
                // Black text has no colour edges.
                if let number = Int(name) { #expect(direct == (Drawing.Kind.of(number) != .page), "\(name) \(spec)") }
            }
        }
        // libvips 8.14.1 calls them 4:4:4.
        #expect(differing == ["olympus-c720uz.jpg", "sony-dsc-g1.jpg"])
    }
}
