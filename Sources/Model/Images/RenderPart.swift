internal import VariantSpec

/// Orders that go to a renderer together and share one deadline.
package enum RenderPart {
    package static let outputLimit = 64
    /// Most pixels in a part. At four bytes a pixel, as in a PNG of noise, they stay below the bytes that any renderer
    /// may write.
    private static let pixelLimit = 128_000_000

    /// Splits orders into parts. Still variants come first, in their order. Each animated variant is a part of its own
    /// after them, so that stills do not wait for it.
    package static func all(of orders: [RenderOrder], frames: Int) -> [[RenderOrder]] {
        guard frames > 1 else { return all(of: orders) }
        return all(of: orders.filter { !$0.spec.isAnimated }) + orders.filter(\.spec.isAnimated).map { [$0] }
    }

    /// Splits orders into parts, in their order.
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
