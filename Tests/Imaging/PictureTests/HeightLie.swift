internal import Ports
internal import Posix
internal import RendererPool
internal import TestPixels
internal import Testing
internal import VariantSpec

/// A JPEG of 600 × 400 whose header tells of more rows than its data make.
struct HeightLie: Sendable, CustomTestStringConvertible {
    /// How the JPEG is coded.
    enum Kind: String, CaseIterable, Sendable {
        case baseline, progressive, grey, inks, restarts

        func file() async throws -> [UInt8] {
            let size = PixelSize(width: 600, height: 400)
            if self == .inks { return Sources.inks(size) }
            if self == .restarts { return Sources.restarting(size) }
            var configuration = Workshop.configuration(count: 1)
            configuration.isProgressive = self == .progressive
            let pool = RendererPool(configuration)
            let picture = try Workshop.file(Pixels.photograph(width: size.width, height: size.height, seed: 2).png)
            let made = try await Workshop.make(self == .grey ? "full-grey.jpg" : "full.jpg", of: picture, in: pool)
            await pool.stop()
            return try made.content.bytes()
        }
    }

    let rows: Int
    /// The part of the data that is there, before a mark of the end.
    let keeps: Double

    init(_ rows: Int, keeps: Double = 1) { (self.rows, self.keeps) = (rows, keeps) }

    var testDescription: String { "\(rows) rows more, \(keeps) of the data" }

    func told(of jpeg: [UInt8]) throws -> [UInt8] {
        let marks = jpeg.indices.dropLast().filter { jpeg[$0] == 0xff && [0xc0, 0xc2].contains(jpeg[$0 + 1]) }
        let frame = try #require(marks.first) + 5
        let height = Int(jpeg[frame]) << 8 | Int(jpeg[frame + 1]) + rows
        var told = jpeg
        told[frame] = UInt8(height >> 8)
        told[frame + 1] = UInt8(height & 255)
        return keeps == 1 ? told : told.prefix(Int(Double(told.count) * keeps)) + [0xff, 0xd9]
    }
}
