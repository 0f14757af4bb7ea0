/// Size and quality steps that requests are rounded up to, so that similar requests share one variant.
package struct SizeSteps: Sendable, Hashable {
    /// Steps of the long side in pixels, ascending.
    package let sizes: [Int]
    /// Steps of the quality, 1...100, ascending.
    package let qualities: [Int]

    /// Sorts the steps, and drops repeats and values out of range.
    package init(
        sizes: [Int] = [30, 60, 90, 120, 160, 180, 256, 320, 480, 512, 640, 720, 960, 1024, 1280, 1600, 1920, 2560],
        qualities: [Int] = [40, 70, 80, 90]
    ) {
        self.sizes = Set(sizes).filter { (1...SpecFault.sideLimit).contains($0) }.sorted()
        self.qualities = Set(qualities).filter { (1...100).contains($0) }.sorted()
    }

    /// The spec with its long side and quality rounded up to steps. The short side follows in proportion, rounded half
    /// up and at least 1. A value above the last step passes unchanged.
    package func fitting(_ spec: VariantSpec) -> VariantSpec {
        let long = max(spec.width, spec.height)
        let step = sizes.first { $0 >= long } ?? long
        func follow(_ side: Int) -> Int { side == 0 ? 0 : max(1, (2 * side * step + long) / (2 * long)) }
        return VariantSpec(
            width: follow(spec.width), height: follow(spec.height), mode: spec.mode,
            quality: spec.quality == 0 ? 0 : qualities.first { $0 >= spec.quality } ?? spec.quality,
            format: spec.format, enlarge: spec.enlarge, axis: spec.axis, extras: spec.extras)
    }
}
