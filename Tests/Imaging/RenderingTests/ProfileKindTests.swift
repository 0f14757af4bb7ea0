internal import RenderKit
internal import Testing

@Suite("What an embedded profile means, from its head", .timeLimit(.minutes(1)))
struct ProfileKindTests {
    @Test(
        "One counts where it is of the picture's own pixels and of a believable size",
        arguments: [
            ("RGB ", "test", 200, ProfileKind.other), ("RGB ", "IEC sRGB", 200, .same), ("GRAY", "test", 200, .none),
            ("CMYK", "test", 200, .none), ("RGB ", "test", 127, .none), ("RGB ", "test", 4 << 20, .other),
            ("RGB ", "test", (4 << 20) + 1, .none),
        ])
    func colour(space: String, maker: String, bytes: Int, kind: ProfileKind) {
        #expect(profile(space, maker, bytes) { ProfileKind($0, for: .rgb) } == kind)
    }

    @Test(
        "Grey and CMYK have profiles of their own",
        arguments: [
            ("GRAY", ProfileKind.Pixels.grey, ProfileKind.other), ("CMYK", .cmyk, .other), ("RGB ", .grey, .none),
            ("GRAY", .cmyk, .none),
        ])
    func others(space: String, pixels: ProfileKind.Pixels, kind: ProfileKind) {
        #expect(profile(space, "test", 200) { ProfileKind($0, for: pixels) } == kind)
    }

    private func profile<R>(_ space: String, _ maker: String, _ count: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R
    {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.replaceSubrange(16..<20, with: Array(space.utf8))
        bytes.replaceSubrange(48..<48 + maker.utf8.count, with: Array(maker.utf8))
        return bytes.withUnsafeBytes(body)
    }
}
