import Canonical
import Digest
import Foundation
import ImageModel
import Images
import Planning
import Ports
import Posix
import RendererPool
import TestPixels
import TestSupport
import VariantSpec

/// A source in a test, and what is stored of it: rendered by real children, recorded in real rows.
struct Studio: Sendable {
    /// One pool for all tests: children take long to start, and on a busy machine a test is no deadline.
    static let pool = RendererPool(
        RendererConfiguration(
            program: Built.program("mezzotint-renderer").path, count: 2, deadline: .seconds(120)))

    let picture: Picture
    let source: SourceRow
    private(set) var rows: [VariantRow] = []
    private var blobs: [VariantSpec: FileSlice] = [:]
    let name: String

    init(_ file: OpenFile, named name: String = "source") async throws {
        self.name = name
        picture = try await Studio.pool.inspect(file)
        let digest = SHA256.digest(of: try file.allBytes())
        source = SourceRow(
            source: SourceKey(digest), url: "http://origin/picture", version: SourceVersion(digest),
            size: picture.facts.size,
            format: picture.facts.format, bytes: file.length, digest: digest, hasAlpha: picture.facts.hasAlpha,
            original: nil, fetchedAt: 0, expires: 1000)
    }

    init(_ pixels: Pixels, named name: String = "source") async throws {
        try await self.init(OpenFile(pixels.png), named: name)
    }

    /// Renders these from the source in one decode, as after a fetch, and remembers their rows.
    mutating func store(_ specs: [VariantSpec]) async throws {
        let plan = FetchedPlan(specs, snapshot: SourceSnapshot(source: source, variants: rows), fetched: source)
        guard let batch = plan.batch else { return }
        for variant in try await Studio.pool.render(
            picture, batch.orders, isReuse: batch.renderSource.isDonor)
        {
            blobs[variant.spec] = variant.content
            rows.append(
                batch.renderSource.row(
                    of: variant.spec, as: variant.rendition, facts: picture.facts.ofSource,
                    bytes: variant.content.length, digest: source.digest, location: "\(variant.spec)", at: 0))
        }
    }

    /// From the source's own bytes, in one decode.
    func direct(_ orders: [RenderOrder]) async throws -> [RenderedVariant] {
        try await Studio.pool.render(picture, orders, isReuse: false)
    }

    /// From the source's own bytes decoded in full: what both ways are scored against. A decode at a part of the size is
    /// as far from it as a good donor is, and would score itself too high.
    func ideal(_ order: RenderOrder) async throws -> RenderedVariant {
        try await Studio.pool.render(picture, [order], isReuse: true)[0]
    }

    /// From a stored variant, in one decode.
    func reused(_ row: VariantRow, _ orders: [RenderOrder]) async throws -> [RenderedVariant] {
        guard let blob = blobs[row.spec] else { return [] }
        return try await Studio.pool.render(Studio.pool.inspect(blob.copy()), orders, isReuse: true)
    }
}

extension OpenFile {
    convenience init(_ bytes: [UInt8]) throws {
        try self.init(anonymous: "picture")
        try bytes.withUnsafeBytes { try append($0) }
    }
}

extension FileSlice {
    /// As a file of its own, as a store would open it.
    func copy() throws -> OpenFile { try OpenFile(bytes()) }
}

/// One request that a stored variant answers: a case of the property.
struct ReuseCase: Sendable {
    let source: String
    let spec: VariantSpec
    let donor: VariantRow
    /// What the planner ordered of the donor.
    let order: RenderOrder

    /// What the donor and the source are each asked for, to be compared: the wanted variant, and the same without loss.
    var fromDonor: [RenderOrder] { [order, lossless(order)] }
    func fromSource(_ placement: Placement) -> [RenderOrder] {
        let order = RenderOrder(spec: spec, output: placement.output, crop: placement.region)
        return [order, lossless(order)]
    }

    private func lossless(_ order: RenderOrder) -> RenderOrder {
        let spec = VariantSpec(
            width: spec.width, height: spec.height, mode: spec.mode, format: .png, enlarge: spec.enlarge,
            axis: spec.axis)
        return RenderOrder(spec: spec, output: order.output, crop: order.crop)
    }

    /// Cells of the loss table, a few together: the donor's class, the wanted format, and whether the ratio is small,
    /// middling or large.
    var cell: String {
        let ratio = DonorRule.ratio(of: order.crop, to: order.output)
        let quality = [95, 90, 80].first { $0 <= donor.spec.quality } ?? 0
        return
            "\(donor.spec.format.rawValue) \(quality) to \(spec.format.rawValue), \(ratio <= 1.5 ? "up to 1.5" : ratio <= 3 ? "up to 3" : "above 3")"
    }
}

extension ReuseCase {
    /// Requests at random against random parts of what is stored, as many as a donor answers.
    static func random(
        _ studio: Studio, upTo side: Int = 640, count: Int, losses: LossTables = .measured,
        using random: inout SeededRandom
    ) -> (cases: [ReuseCase], asked: Int) {
        var (cases, asked): ([ReuseCase], Int) = ([], 0)
        let long = max(studio.source.size.width, studio.source.size.height)
        while cases.count < count, asked < count * 40 {
            asked += 1
            let spec = VariantSpec.random(upTo: min(side, long * 2 / 3), using: &random)
            let stored = studio.rows.shuffled(using: &random).prefix(.random(in: 1...studio.rows.count, using: &random))
            let plan = Plan(
                [spec], snapshot: SourceSnapshot(source: studio.source, variants: Array(stored)), now: 10,
                rules: ReuseRules(losses: losses))
            for batch in plan.reuses {
                guard case .donor(let row) = batch.renderSource.input else { continue }
                cases += batch.orders.map { ReuseCase(source: studio.name, spec: spec, donor: row, order: $0) }
            }
        }
        return (cases, asked)
    }
}

extension VariantSpec {
    /// Any size, mode, format, quality and axis; small sizes as often as large ones.
    static func random(upTo side: Int, using random: inout SeededRandom) -> VariantSpec {
        func size() -> Int {
            let octaves = max(1, (side / 24).bitWidth - (side / 24).leadingZeroBitCount)
            let top = 24 << Int.random(in: 0...octaves, using: &random)
            return min(side, Int.random(in: max(16, top / 2)...top, using: &random))
        }
        let mode = FitMode.allCases.randomElement(using: &random)!
        let isSquare = Bool.random(using: &random)
        let width = size()
        return VariantSpec(
            width: width, height: isSquare ? width : Int.random(in: 0...7, using: &random) == 0 ? 0 : size(),
            mode: mode,
            quality: [60, 75, 80, 85, 90, 95].randomElement(using: &random)!,
            format: [.jpeg, .webp, .png].randomElement(using: &random)!,
            enlarge: Int.random(in: 0...9, using: &random) == 0,
            axis: Bool.random(using: &random)
                ? .centre : CropAxis(x: .random(in: 0...10, using: &random), y: .random(in: 0...10, using: &random)))
    }

    /// Something worth storing: large, and of a quality that may stand in.
    static func randomDonor(upTo side: Int, using random: inout SeededRandom) -> VariantSpec {
        let base = VariantSpec.random(upTo: side, using: &random)
        let width = Int.random(in: side / 4...side, using: &random)
        return VariantSpec(
            width: width, height: base.width == base.height ? width : Int.random(in: side / 4...side, using: &random),
            mode: base.mode, quality: [80, 85, 90, 92, 95, 98].randomElement(using: &random)!,
            format: [.jpeg, .jpeg, .webp, .webp, .png].randomElement(using: &random)!,
            enlarge: base.enlarge, axis: base.axis)
    }
}
