package import Images
package import VariantSpec

/// One decode and all that is made from it.
package struct RenderBatch: Sendable, Hashable {
    package let renderSource: RenderSource
    package internal(set) var orders: [RenderOrder]

    /// Variants from the source's own bytes.
    init(_ renderSource: RenderSource, _ specs: [VariantSpec]) {
        self.renderSource = renderSource
        orders = specs.map { spec in
            let placement = spec.placement(of: renderSource.sourceSize, around: renderSource.regions)
            return RenderOrder(spec: spec, output: placement.output, crop: placement.region)
        }
    }

    init(_ donor: Donor, _ regions: [KeptRegion], first order: RenderOrder) {
        (renderSource, orders) = (RenderSource(donor: donor.row, regions: regions), [order])
    }

    /// The same, once its picture is inspected: what a kept original marks steers its crops, though its row does not say it.
    package func inspected(_ regions: [KeptRegion]) -> RenderBatch {
        renderSource.around(regions).map { RenderBatch($0, orders.map(\.spec)) } ?? self
    }

    /// The orders that must be made: a small source gives the same picture for several specs.
    package var distinct: [RenderOrder] {
        orders.reduce(into: []) { made, order in
            if !made.contains(where: order.isSamePicture) { made.append(order) }
        }
    }
}

extension RenderOrder {
    /// Whether the other's file would be this one's, byte for byte.
    package func isSamePicture(as other: RenderOrder) -> Bool {
        // Those of padded variants differ by their borders alone.
        output == other.output && spec.finished(output) == other.spec.finished(other.output) && crop == other.crop
            && spec.format == other.spec.format
            && spec.quality == other.spec.quality
            && spec.extras == other.spec.extras
    }
}
