import Testing

@testable import VariantSpec

@Suite("The table of formats", .timeLimit(.minutes(1)))
struct FormatTableTests {
    @Test("A format's ending leads back to it, and its media type is an image's", arguments: ImageFormat.allCases)
    func names(format: ImageFormat) {
        #expect(ImageFormat(suffix: format.suffix) == format)
        #expect(ImageFormat(utf8: Array(format.suffix.utf8)[...]) == format)
        #expect(format.contentType.hasPrefix("image/\(format.rawValue)"))
        #expect(VariantSpec(width: 9, height: 9, format: format).description.hasSuffix(".\(format.suffix)"))
    }

    @Test("Each encoder is of one format, and each format that is written has one")
    func encoders() {
        #expect(ImageFormat.written.compactMap(\.output?.encoder) == OutputTraits.Encoder.allCases)
    }

    @Test("Each format that is written holds the largest side that a spec may ask for", arguments: ImageFormat.written)
    func sides(format: ImageFormat) throws {
        #expect(try #require(format.output).sideLimit >= SpecFault.sideLimit)
    }

    @Test("Messages name the formats that are written, in the table's order")
    func messages() {
        #expect(ImageFormat.writtenSuffixes == "jpg, png, webp, avif or gif")
        #expect(SpecFault.endings == ".jpg, .png, .webp, .avif, .gif or .auto")
        #expect(SpecFault.unwritten(.jxl).sentence == "jxl can be read but not written. Ask for \(SpecFault.endings).")
    }
}
