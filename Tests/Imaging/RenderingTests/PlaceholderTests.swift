import Records
import RenderKit
import Testing
import VariantSpec

@testable import RenderProtocol

@Suite("Looks: what a variant is like before it is loaded", .timeLimit(.minutes(1)))
struct LookTests {
    /// Pixels by a formula, and what Evan Wallace's thumbhash.js makes of them.
    struct Sample: Sendable {
        let width: Int
        let height: Int
        let hash: String
        let colour: @Sendable (_ x: Int, _ y: Int) -> [Int]
    }

    private static let samples: [Sample] = [
        Sample(width: 32, height: 24, hash: "3BcGDYgxU5YwZphxiEh4iIMAZcP4") { x, y in
            [(x * x + y * 5) % 256, (x * 3 + y * y) % 256, x * y * 7 % 256, 255]
        },
        Sample(width: 20, height: 32, hash: "2xgOHBpgFodoiIZ3iHf1lg/niA==") { x, y in
            [x * 13 % 256, y * 7 % 256, x * y % 256, 255]
        },
        Sample(width: 30, height: 30, hash: "HeeFJQYHYJeFiYdoZ1+GB+GoAkJVZXaHdg==") { x, y in
            [(x * x + 9) % 256, (y * y * 3 + x) % 256, (x * 8 + y) % 256, (x * y * 3 + x * 11 + y) % 256]
        },
        Sample(width: 32, height: 4, hash: "EvcOYaiPdYmDiIiHjo/4iHg=") { x, y in [x < 16 ? 255 : 0, 0, y * 60, 255] },
        Sample(width: 8, height: 8, hash: "AAiCBQAAAAAAAAAAAAAAAAAAAAAAAAAAAA==") { _, _ in [255, 0, 0, 0] },
    ]

    @Test("A ThumbHash is the published algorithm's", arguments: samples.indices)
    func hash(index: Int) {
        let sample = Self.samples[index]
        var pixels: [UInt8] = []
        for y in 0..<sample.height {
            for x in 0..<sample.width { pixels += sample.colour(x, y).map { UInt8($0) } }
        }
        let hash = ThumbHash.bytes(rgba: pixels, width: sample.width, height: sample.height)
        #expect(Base64.text(hash) == sample.hash)
    }

    @Test("A hash is drawn as the picture that it was made of, on white", arguments: [false, true])
    func drawing(isTransparent: Bool) throws {
        func colour(_ x: Double, _ y: Double) -> [Double] { [40 + 180 * x, 200 - 120 * y, 90 + 60 * x * y] }
        var pixels: [UInt8] = []
        for y in 0..<24 {
            for x in 0..<32 {
                pixels += colour(Double(x) / 31, Double(y) / 23).map { UInt8($0) }
                pixels.append(isTransparent && x >= 16 ? 0 : 255)
            }
        }
        let drawing = try #require(
            ThumbHash.drawing(of: ThumbHash.bytes(rgba: pixels, width: 32, height: 24), side: 16))
        // Landscape, by sevenths or fifths.
        #expect(drawing.width == 16 && (11...13).contains(drawing.height))
        for (x, y) in [(2, 2), (5, 9), (12, 3), (13, 10)] {
            let (across, down) = (Double(x) / 15, Double(y) / Double(drawing.height - 1))
            for (channel, level) in colour(across, down).enumerated() {
                let shown = Double(drawing.rgb[(y * 16 + x) * 3 + channel])
                #expect(abs(shown - (isTransparent && x > 8 ? 255 : level)) < 40, "\(x), \(y): \(shown)")
            }
        }
    }

    @Test("Invalid hashes are not drawn", arguments: 0..<26)
    func noHash(count: Int) {
        for byte: UInt8 in [0, 0x7f, 0xff] {
            let drawing = ThumbHash.drawing(of: [UInt8](repeating: byte, count: count), side: 16)
            #expect(drawing.map { $0.rgb.count == $0.width * $0.height * 3 } ?? true)
            if count < 5 { #expect(drawing == nil) }
        }
    }

    @Test("Base 64 goes there and back, and refuses what is none")
    func base64() {
        for count in 0..<40 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) }
            #expect(Base64.bytes(Base64.text(bytes)) == bytes)
        }
        #expect(Base64.text(Array("Mezzo".utf8)) == "TWV6em8=")
        for text in ["a", "ab!=", "ab=", "====x"] { #expect(Base64.bytes(text) == nil, "\(text)") }
    }

    @Test(
        "The colour is the one that most shows, whatever the channels; what is transparent has none",
        arguments: [
            ([200, 30, 30], 3, RGB(200, 30, 30)), ([77], 1, RGB(77, 77, 77)), ([10, 20, 30, 255], 4, RGB(10, 20, 30)),
            ([90, 128], 2, RGB(90, 90, 90)), ([10, 20, 30, 0], 4, nil),
        ] as [([UInt8], Int, RGB?)])
    func colour(pixel: [UInt8], channels: Int, expected: RGB?) {
        // A tenth is another colour.
        var pixels: [UInt8] = []
        for place in 0..<50 * 40 { pixels += place % 50 < 5 && channels == 3 ? [0, 0, 255] : pixel }
        let placeholder = pixels.withUnsafeBytes { Placeholder($0, width: 50, height: 40, channels: channels) }
        #expect(placeholder.colour == expected)
        #expect(!placeholder.thumbHash.isEmpty && placeholder.thumbHash.count <= ThumbHash.byteLimit)
    }

    @Test("A large picture's placeholder is a small one's", arguments: [(640, 480), (33, 25), (1, 300), (300, 1)])
    func sizes(width: Int, height: Int) {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width { pixels += [UInt8(x * 255 / width), UInt8(y * 255 / height), 90] }
        }
        let placeholder = pixels.withUnsafeBytes { Placeholder($0, width: width, height: height, channels: 3) }
        #expect(placeholder.thumbHash.count >= 5 && placeholder.colour != nil)
    }
}
