internal import DirectPath
internal import Ports
internal import RenderProtocol
internal import Testing
internal import VariantSpec

@Suite("The direct path: which renders it takes")
struct DirectChoiceTests {
    @Test(
        "A colour JPEG to whatever, and nothing else",
        arguments: [
            (ImageFormat.jpeg, [ImageFormat.jpeg], true, true), (.jpeg, [.webp, .png, .jpeg], true, true),
            (.jpeg, [.jpeg], false, false), (.jpeg, [.jpeg, .avif], true, true), (.jpeg, [.gif], true, true),
            (.png, [.jpeg], true, false), (.webp, [.webp], true, false), (.heic, [.jpeg], true, false),
        ])
    func formats(source: ImageFormat, outputs: [ImageFormat], isColour: Bool, isTaken: Bool) {
        #expect(takes(source, outputs.map { ($0, 640, 480) }, isColour: isColour) == isTaken)
    }

    @Test("Not where all that comes out would fill the memory")
    func size() {
        #expect(takes(.jpeg, [(.jpeg, 4800, 5000)], isColour: true))
        #expect(!takes(.jpeg, [(.jpeg, 4800, 5000), (.webp, 10, 10)], isColour: true))
    }

    @Test(
        "What a profile means is read from its head",
        arguments: [
            ("RGB ", "test", 200, ProfileKind.other), ("RGB ", "IEC sRGB", 200, .same), ("GRAY", "test", 200, .none),
            ("CMYK", "test", 200, .none), ("RGB ", "test", 127, .none), ("RGB ", "test", (1 << 20) + 1, .none),
        ])
    func profile(space: String, maker: String, bytes: Int, kind: ProfileKind) {
        var profile = [UInt8](repeating: 0, count: bytes)
        profile.replaceSubrange(16..<20, with: Array(space.utf8))
        profile.replaceSubrange(48..<48 + maker.utf8.count, with: Array(maker.utf8))
        #expect(profile.withUnsafeBytes { ProfileKind($0) } == kind)
    }

    private func takes(_ format: ImageFormat, _ outputs: [(ImageFormat, Int, Int)], isColour: Bool) -> Bool {
        let size = PixelSize(width: 4000, height: 3000)
        let request = RenderRequest(
            facts: PictureFacts(format: format, size: size, orientation: 1, frames: 1, hasAlpha: false), isReuse: false,
            deadlineMilliseconds: 1000,
            outputs: outputs.map { format, width, height in
                RenderOutput(
                    format: format, quality: 80, effort: 2, size: PixelSize(width: width, height: height),
                    crop: Region(whole: size))
            })
        return DirectChoice.takes(request, JPEGTraits(stored: size, isColour: isColour, profile: .none))
    }
}
