internal import VariantSpec

/// What a renderer is asked at once, and has one deadline for.
package enum RenderPart {
    package static let outputLimit = 64
    /// Of four bytes each, as a PNG of noise has, less than a renderer may surely write.
    private static let pixelLimit = 128_000_000

    /// In their order, but for what moves: each of those is a part of its own, after all stills, which do not wait for it.
    package static func all(of orders: [RenderOrder], frames: Int) -> [[RenderOrder]] {
        guard frames > 1 else { return all(of: orders) }
        return all(of: orders.filter { !$0.spec.isAnimated }) + orders.filter(\.spec.isAnimated).map { [$0] }
    }

    /// In their order.
    package static func all(of orders: [RenderOrder]) -> [[RenderOrder]] {
        var (parts, part, pixels): ([[RenderOrder]], [RenderOrder], Int) = ([], [], 0)
        for order in orders {
            let own = order.spec.finished(order.output).pixels
            if !part.isEmpty, part.count == outputLimit || pixels + own > pixelLimit {
                parts.append(part)
                (part, pixels) = ([], 0)
            }
            part.append(order)
            pixels += own
        }
        return part.isEmpty ? parts : parts + [part]
    }
}
