internal import Ports
internal import Posix
import RendererPool
internal import TestPixels
internal import Testing
internal import VariantSpec

@Suite("Pictures: exactly the size that was asked", .timeLimit(.minutes(2)))
struct SizeTests {
    private static let sizes = [
        (1, 1), (7, 300), (300, 7), (99, 66), (150, 100), (151, 101), (299, 200), (300, 200), (301, 333), (640, 427),
    ]

    @Test("Every format comes out in every size from every format", arguments: [ImageFormat.png, .jpeg, .webp])
    func everySize(source format: ImageFormat) async throws {
        let source = Pixels.photograph(width: 300, height: 200, seed: 1)
        var file = try Workshop.file(source.png)
        if format != .png {
            let variants = try await Workshop.render(file) {
                [Workshop.order(300, 200, format, of: $0.size, quality: 95)]
            }
            file = try Workshop.file(try variants[0].content.bytes())
        }
        let outputs: [ImageFormat] = [.jpeg, .png, .webp]
        let variants = try await Workshop.render(file) { facts in
            outputs.flatMap { output in Self.sizes.map { Workshop.order($0.0, $0.1, output, of: facts.size) } }
        }
        #expect(variants.count == outputs.count * Self.sizes.count)
        for variant in variants {
            let read = try await Workshop.pool.inspect(try Workshop.file(try variant.content.bytes()))
            #expect(read.facts.size == variant.size)
            #expect(read.facts.size == PixelSize(width: variant.spec.width, height: variant.spec.height))
            #expect(read.facts.format == variant.spec.format)
        }
    }
}
