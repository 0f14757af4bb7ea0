internal import DirectPath
internal import Images
internal import RenderKit
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
