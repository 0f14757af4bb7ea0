internal import Foundation
internal import Images
internal import Ports
internal import Posix
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

@Suite("Pictures: upright, whichever way they are stored", .timeLimit(.minutes(2)))
struct OrientationTests {
    private static let map = Pixels.map(width: 90, height: 60)

    @Test("All eight orientations of a PNG come out as the same pixels, whole, cut and reduced", arguments: 1...8)
    func png(orientation: Int) async throws {
        let stored = Sources.stored(Self.map, orientation: orientation)
        let exif = Pixels.chunk("eXIf", Sources.tiff(orientation: orientation))
        let file = try Workshop.file(Sources.png(stored, with: [exif]))
        #expect(try await Workshop.pixels(file, 90, 60) == Self.map)

        let upright = try Workshop.file(Self.map.png)
        let crop = Region(x: 10, y: 20, width: 30, height: 35)
        let same = try await Workshop.pixels(file, 30, 35, crop: crop)
        #expect(try await same == Workshop.pixels(upright, 30, 35, crop: crop))
        // Rows and columns are reduced in the other order: a level of rounding.
        let small = try await Workshop.pixels(file, 41, 23, crop: crop)
        let expected = try await Workshop.pixels(upright, 41, 23, crop: crop)
        #expect(try #require(small.difference(from: expected)) < 0.7)
    }

    @Test("A JPEG and a WebP tell theirs in EXIF", arguments: [ImageFormat.jpeg, .webp], [3, 6])
    func lossy(format: ImageFormat, orientation: Int) async throws {
        let stored = Sources.stored(Self.map, orientation: orientation)
        let made = try await Workshop.render(try Workshop.file(stored.png)) {
            [Workshop.order(stored.width, stored.height, format, of: $0.size, quality: 95)]
        }
        var bytes = try made[0].content.bytes()
        if format == .jpeg {
            bytes = Sources.photographed(bytes, orientation: orientation)
        } else {
            bytes = Sources.webp(bytes, stored, chunks: [("EXIF", Sources.tiff(orientation: orientation))])
        }
        let shown = try await Workshop.pixels(try Workshop.file(bytes), 90, 60)
        #expect(try #require(shown.difference(from: Self.map)) < 3)
    }

    /// They differ by a numeral in the middle: turned wrongly they would differ by more than 30 levels.
    @Test(
        "Real cameras' eight agree", .enabled(if: Shared.has("images/orientation"), Comment(rawValue: Shared.absent)),
        arguments: ["landscape", "portrait"], [(400, 300), (120, 90)])
    func cameras(name: String, size: (Int, Int)) async throws {
        let files = Shared.pictures("orientation").filter { $0.lastPathComponent.hasPrefix(name) }
        #expect(files.count == 8)
        let (width, height) = name == "landscape" ? size : (size.1, size.0)
        let first = try await Workshop.pixels(try Workshop.file(files[0]), width, height)
        for file in files.dropFirst() {
            let other = try await Workshop.pixels(try Workshop.file(file), width, height)
            #expect(try #require(other.difference(from: first)) < 8, "\(file.lastPathComponent)")
        }
    }
}
