internal import Testing

@testable internal import RenderKit

@Suite("A WebP's container, less everything but pixels", .timeLimit(.minutes(1)))
struct WebPContainerTests {
    private let image = Samples.chunk("VP8 ", [1, 2, 3])
    private let alpha = Samples.chunk("ALPH", [4, 5])
    private let extras =
        Samples.chunk("EXIF", [6, 7, 8]) + Samples.chunk("XMP ", [9]) + Samples.chunk("ICCP", [10, 11])
    private func canvas(_ flags: UInt8) -> [UInt8] { Samples.chunk("VP8X", [flags, 0, 0, 0, 29, 0, 0, 19, 0, 0]) }

    @Test("Metadata and profile go; without alpha the canvas goes too")
    func opaque() {
        #expect(WebPContainer.bare(Samples.riff(canvas(0x2c) + image + extras)) == Samples.riff(image))
        #expect(WebPContainer.bare(Samples.riff(image)) == Samples.riff(image))
    }

    @Test("With alpha the canvas stays, and says of nothing but alpha")
    func alphaStays() {
        #expect(
            WebPContainer.bare(Samples.riff(canvas(0x3c) + alpha + image + extras))
                == Samples.riff(canvas(0x10) + alpha + image))
    }

    @Test("An animation, and what can't be read, stays as it is")
    func untouched() {
        let animation = Samples.riff(canvas(2) + Samples.chunk("ANMF", [1, 2]))
        #expect(WebPContainer.bare(animation) == animation)
        let crop = Array(Samples.riff(canvas(0x0c) + image).dropLast(2))
        #expect(WebPContainer.bare(crop) == crop)
    }
}
