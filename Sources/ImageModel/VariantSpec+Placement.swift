extension VariantSpec {
    /// The pixels that this spec asks of a source, and what of the source they show.
    ///
    /// Always computed from the source's own size (after orientation), never from a donor's, so that a reused variant
    /// has exactly the pixels of a fetched one. Integers throughout: a side that follows is rounded half up, and is at
    /// least one pixel. Without `enlarge` nothing is made larger than the source: `x` and `z` then give the source as it
    /// is, and `y` cuts as much of the wanted size as there is, pixel for pixel (as sharp's withoutEnlargement does).
    package func placement(of source: PixelSize) -> Placement {
        if isFullSize { return Placement(output: source, region: Region(whole: source)) }
        let fit = Fit(self, of: source)
        guard mode == .crop else {
            return Placement(output: fit.isKept ? source : fit.scaled, region: Region(whole: source))
        }
        guard !fit.isKept else {
            let output = PixelSize(width: min(width, source.width), height: min(height, source.height))
            return Placement(output: output, region: region(Double(output.width), Double(output.height), of: source))
        }
        // The side that decides the scale is shown whole; the other follows from the wanted shape.
        let shown =
            fit.followsWidth
            ? (Double(source.width), Double(source.width * height) / Double(width))
            : (Double(source.height * width) / Double(height), Double(source.height))
        return Placement(output: PixelSize(width: width, height: height), region: region(shown.0, shown.1, of: source))
    }

    /// A rectangle of this size in the source, where the axis puts it.
    private func region(_ shownWidth: Double, _ shownHeight: Double, of source: PixelSize) -> Region {
        Region(
            x: (Double(source.width) - shownWidth) * Double(axis.x) / 10,
            y: (Double(source.height) - shownHeight) * Double(axis.y) / 10, width: shownWidth, height: shownHeight)
    }
}

/// How a source is scaled to a wanted size: which side decides, and whether it stays as it is.
private struct Fit {
    /// The wanted width decides the scale; otherwise the height does.
    let followsWidth: Bool
    /// The source would have to be enlarged, and may not be.
    let isKept: Bool
    /// The whole source at that scale.
    let scaled: PixelSize

    init(_ spec: VariantSpec, of source: PixelSize) {
        let (byWidth, byHeight) = (spec.width * source.height, spec.height * source.width)
        followsWidth =
            spec.height == 0 || (spec.width != 0 && (spec.mode == .inside ? byWidth <= byHeight : byWidth >= byHeight))
        isKept = !spec.enlarge && (followsWidth ? spec.width > source.width : spec.height > source.height)
        scaled =
            followsWidth
            ? PixelSize(width: spec.width, height: Fit.scale(source.height, spec.width, source.width))
            : PixelSize(width: Fit.scale(source.width, spec.height, source.height), height: spec.height)
    }

    /// side × wanted / own, rounded half up, at least 1.
    private static func scale(_ side: Int, _ wanted: Int, _ own: Int) -> Int {
        max(1, (2 * side * wanted + own) / max(1, 2 * own))
    }
}
