internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import RendererPool
internal import TestSupport
internal import VariantSpec

/// One photograph's losses. For each size, donor and ratio, the variant is rendered from the source and from the donor.
/// Both are scored against the lossless rendering of the fully decoded source, and the difference is the loss.
struct LossMeasurement {
    let renderer: RendererPool
    let folder: URL

    /// Small sizes allow large ratios. The loss at one ratio differs between sizes, so most ratios are measured at two.
    static let plan: [(side: Int, ratios: [Double])] = [
        (480, [1.05, 1.1, 1.25, 1.5, 2, 3]), (160, [1, 1.05, 1.1, 1.25, 1.5, 2, 3, 4, 6, 8, 12]),
        (80, [2, 4, 8, 12, 16, 24]),
    ]

    /// A size, a donor, a requested variant and a ratio.
    struct Cell: Hashable, CustomStringConvertible {
        let side: Int
        let donor: LossFormat
        let wanted: LossFormat
        let ratio: Double

        var description: String {
            "\(side) \(donor.format) \(donor.quality) \(wanted.format) \(wanted.quality) \(ratio)"
        }
    }

    func losses(of photograph: URL) async throws -> [Cell: Double] {
        let source = try await renderer.inspect(OpenFile(reading: photograph.path))
        let (size, long) = (source.facts.size, max(source.facts.size.width, source.facts.size.height))
        var losses: [Cell: Double] = [:]
        for (side, ratios) in Self.plan {
            let wanted = LossFormat.wanted.map { $0.spec(side) }
            let orders = wanted.map { order($0, of: size) }
            let direct = try await files(source, orders, as: "direct", isReuse: false)
            let reference = try await files(source, orders.suffix(1), as: "reference", isReuse: true)[0]
            var straight: [Double] = []
            for file in direct { straight.append(try await SSIMULACRA2.score(file, against: reference)) }
            for ratio in ratios where Int(Double(side) * ratio) <= long {
                for donor in LossFormat.donors + (ratio == 1 ? LossFormat.between : []) {
                    let made = order(donor.spec(Int((Double(side) * ratio).rounded())), of: size)
                    let stored = try await renderer.render(source, [made], isReuse: false)
                    let picture = try await renderer.inspect(copy(stored[0].content))
                    let children = wanted.indices.filter { !wanted[$0].format.isLossless || donor.format.isLossless }
                    let whole = Region(whole: picture.facts.size)
                    let orders = children.map { i in
                        RenderOrder(spec: wanted[i], output: wanted[i].placement(of: size).output, crop: whole)
                    }
                    for (i, file) in zip(children, try await files(picture, orders, as: "reused", isReuse: true)) {
                        let cell = Cell(side: side, donor: donor, wanted: LossFormat.wanted[i], ratio: ratio)
                        losses[cell] = straight[i] - (try await SSIMULACRA2.score(file, against: reference))
                    }
                }
            }
        }
        return losses
    }

    private func order(_ spec: VariantSpec, of size: PixelSize) -> RenderOrder {
        let placement = spec.placement(of: size)
        return RenderOrder(spec: spec, output: placement.output, crop: placement.region)
    }

    private func files(
        _ picture: Picture, _ orders: [RenderOrder], as name: String, isReuse: Bool
    ) async throws -> [URL] {
        let variants = try await renderer.render(picture, orders, isReuse: isReuse)
        return try variants.enumerated().map { i, variant in
            let file = folder.appending(path: "\(name)-\(i).\(variant.spec.format.suffix)")
            try Data(variant.content.bytes()).write(to: file)
            return file
        }
    }

    private func copy(_ slice: FileSlice) throws -> OpenFile {
        let file = try OpenFile(anonymous: "donor")
        try slice.bytes().withUnsafeBytes { try file.append($0) }
        return file
    }
}
