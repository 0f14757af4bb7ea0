extension VariantSpec {
    /// Size of the output for a source, and the part of the source that it shows.
    ///
    /// Both are always computed from the source's own size (after orientation), never from a donor's. A reused variant
    /// therefore has exactly the pixels of a fetched one. All arithmetic is in integers: a derived side is rounded half
    /// up, and is at least one pixel. Without `enlarge` nothing is made larger than the source: `x` and `z` then
    /// keep the source's size. `y` then cuts as much of the wanted size as exists, pixel for pixel (as sharp's
    /// withoutEnlargement does).
    ///
    /// A crop begins and ends at whole pixels of the source. If fractions were kept, each step that takes whole pixels
    /// of its own input would round again. A donor's cut and the source's were then a pixel apart where their scales
    /// were close.
    ///
    /// The output is neither turned nor padded yet; `finished` gives the final size.
    ///
    /// - Parameter regions: regions that `smart`, or a crop without a position, lies around. If there are none, the
    ///   crop lies in the middle.
    package func placement(of source: PixelSize, around regions: [KeptRegion] = []) -> Placement {
        let rotation = extras.rotation
        guard rotation != .upright else { return placementAsTurned(of: source, regions) }
        let turned = rotation.upright(source)
        let placement = placementAsTurned(of: turned, regions)
        return Placement(
            output: rotation.upright(placement.output), region: rotation.stored(placement.region, of: turned))
    }

    /// Final size of the variant if the output of its placement has `size`.
    package func finished(_ size: PixelSize) -> PixelSize {
        extras.isPadded ? PixelSize(width: width, height: height) : extras.rotation.upright(size)
    }

    private func placementAsTurned(of source: PixelSize, _ regions: [KeptRegion]) -> Placement {
        if isFullSize { return Placement(output: source, region: Region(whole: source)) }
        let fit = Fit(self, of: source)
        let (anchorX, anchorY) = anchors(regions)
        guard mode == .crop else {
            return Placement(output: fit.isKept ? source : fit.scaled, region: Region(whole: source))
        }
        if fit.isKept {
            let output = PixelSize(width: min(width, source.width), height: min(height, source.height))
            let across = CropSide(output.width, over: 1, in: source.width, anchorX)
            let down = CropSide(output.height, over: 1, in: source.height, anchorY)
            return Placement(output: output, region: Region(across, down))
        }
        // The side that decides the scale is shown whole; the other follows from the wanted shape.
        let across =
            fit.followsWidth
            ? CropSide(source.width, over: 1, in: source.width, anchorX)
            : CropSide(source.height * width, over: height, in: source.width, anchorX)
        let down =
            fit.followsWidth
            ? CropSide(source.width * height, over: width, in: source.height, anchorY)
            : CropSide(source.height, over: 1, in: source.height, anchorY)
        return Placement(output: PixelSize(width: width, height: height), region: Region(across, down))
    }
}

extension VariantSpec {
    fileprivate func anchors(_ marked: [KeptRegion]) -> (Anchor, Anchor) {
        let regions: [KeptRegion]
        switch extras.focus {
        case .regions(let asked): regions = asked
        case .smart: regions = marked.ranked
        case nil:
            guard isSteered, !marked.isEmpty else { return (.tenths(axis.x), .tenths(axis.y)) }
            regions = marked.ranked
        }
        let turned = regions.map(extras.rotation.upright)
        return (.regions(turned, \.across), .regions(turned, \.down))
    }
}

/// Reason for the position of a crop along one side.
private enum Anchor {
    /// Tenths of the free space that lie before the crop.
    case tenths(Int)
    /// Regions that the crop's middle is moved to, as far as the edges allow, with their part of this side.
    case regions([KeptRegion], KeyPath<KeptRegion, ClosedRange<Int>>)
}

/// One side of a crop: at least one pixel, rounded to whole pixels from where the anchor puts it.
private struct CropSide {
    let from: Int
    let length: Int

    /// - Parameters:
    ///   - shown, parts: the length shown is `shown / parts` pixels, at most `side`.
    init(_ shown: Int, over parts: Int, in side: Int, _ anchor: Anchor) {
        // All numbers are in units of 1 / (unit × parts) of a pixel.
        let unit: Int
        let before: Int
        switch anchor {
        case .tenths(let tenths):
            unit = 10
            before = (side * parts - shown) * tenths
        case .regions(let regions, let part):
            unit = 2000
            let whole = side * parts
            // If the whole side is shown, there is nothing to choose.
            let kept = shown < whole ? regions.span({ $0[keyPath: part] }, in: 1000 * shown / whole) : 0...1000
            before = min(max(0, (kept.lowerBound + kept.upperBound) * whole - 1000 * shown), 2000 * (whole - shown))
        }
        func rounded(_ units: Int) -> Int { (2 * units + unit * parts) / (2 * unit * parts) }
        from = min(rounded(before), max(0, side - 1))
        length = max(1, rounded(before + unit * shown) - from)
    }
}

extension Region {
    fileprivate init(_ across: CropSide, _ down: CropSide) {
        self.init(
            x: Double(across.from), y: Double(down.from), width: Double(across.length), height: Double(down.length))
    }
}

/// Scale of a source for a wanted size: the side that decides it, and whether the source keeps its size.
private struct Fit {
    /// Whether the wanted width decides the scale; otherwise the height does.
    let followsWidth: Bool
    /// Whether the source would have to be enlarged, but may not be.
    let isKept: Bool
    /// Size of the whole source at that scale.
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
