internal import CVips
internal import RenderKit
internal import RenderProtocol
internal import VariantSpec

extension Raster {
    /// The step's output, resampled from exact fractions of a pixel by the direct path's resampler.
    ///
    /// libvips resamples from the middle of whole pixels. A cut between two pixels was off by up to half a pixel, which
    /// cost 22 points of SSIMULACRA2 for a donor of nearly the requested size.
    ///
    /// - Parameter edges: gets all rows of this image, if pixels of eight bits are resampled.
    func shown(by step: RenderPlan.Step, counting edges: inout ColourEdges?) throws(RasterFailure) -> Raster {
        guard step.isResampled else {
            return step.size == size
                ? self : try cropped(x: Int(step.across.start.rounded()), y: Int(step.down.start.rounded()), step.size)
        }
        guard format != VIPS_FORMAT_UCHAR else { return try resampled(step, isFloat: false, &edges) }
        let format = format
        var none: ColourEdges?
        return try map { image, out in mz_vips_cast(image, VIPS_FORMAT_FLOAT, out) }
            .resampled(step, isFloat: true, &none).rounded(to: format)
    }

    /// The same, using only pixels inside the step's region.
    func shownAlone(by step: RenderPlan.Step) throws(RasterFailure) -> Raster {
        let (across, down) = (step.across.wholePixels(of: size.width), step.down.wholePixels(of: size.height))
        var own = step
        own.across.start -= Double(across.lowerBound)
        own.down.start -= Double(down.lowerBound)
        let part = PixelSize(width: across.count, height: down.count)
        var none: ColourEdges?
        return try cropped(x: across.lowerBound, y: down.lowerBound, part).shown(by: own, counting: &none)
    }

    private func resampled(
        _ step: RenderPlan.Step, isFloat: Bool, _ edges: inout ColourEdges?
    ) throws(RasterFailure) -> Raster {
        let layout = PixelLayout(channels: bands, isFloat: isFloat)
        return try written(as: step.size) { memory throws(RasterFailure) in
            let resampler = Resampler(
                step.across, step.down, of: size, to: step.size, .upright, layout,
                into: Canvas(step.size, layout, in: memory))
            // A part of the image can lack its colour edges.
            let (rows, columns) =
                edges == nil ? (resampler.rows, resampler.columns) : (0..<size.height, 0..<size.width)
            try readRows(rows, columns: columns, window: resampler.window) { end, row in
                edges?.take(rowsUpTo: end, row)
                resampler.advance(end, of: size.height, row: row)
            }
        }
    }

    /// Draws an SVG at the size of its header. libvips sizes a root with only one side, or without pixels, in its own
    /// way, and rounds differently.
    func drawn(from bytes: UnsafeRawBufferPointer, at size: PixelSize) throws(RasterFailure) -> Raster {
        func isNear(_ raster: Raster) -> Bool {
            abs(raster.size.width - size.width) <= 1 && abs(raster.size.height - size.height) <= 1
        }
        if isNear(self) { return try forced(to: size) }
        // The longer side has the smaller rounding error.
        let scale =
            size.width > size.height
            ? Double(size.width) / Double(self.size.width) : Double(size.height) / Double(self.size.height)
        let scaled = try Raster.open(bytes, .svg, shrink: 1, scale: scale)
        return isNear(scaled) ? try scaled.forced(to: size) : scaled
    }

    /// Cuts off or repeats the pixel by which libvips's own rounding may differ.
    private func forced(to size: PixelSize) throws(RasterFailure) -> Raster {
        var raster = self
        if raster.size.width < size.width || raster.size.height < size.height {
            let (width, height) = (max(size.width, raster.size.width), max(size.height, raster.size.height))
            raster = try raster.map { image, out in mz_vips_extend(image, Int32(width), Int32(height), out) }
        }
        guard raster.size != size else { return raster }
        return try raster.map { image, out in mz_vips_extract(image, 0, 0, Int32(size.width), Int32(size.height), out) }
    }

    /// The picture turned upright; needs pixels in memory.
    func turned(_ orientation: Orientation) throws(RasterFailure) -> Raster {
        switch orientation {
        case .upright: self
        case .mirrored: try mirrored()
        case .upsideDown: try turned(VIPS_ANGLE_D180)
        case .flipped: try map { image, out in mz_vips_mirror(image, VIPS_DIRECTION_VERTICAL, out) }
        case .transposed: try turned(VIPS_ANGLE_D90).mirrored()
        case .quarterTurn: try turned(VIPS_ANGLE_D90)
        case .transversed: try turned(VIPS_ANGLE_D270).mirrored()
        case .threeQuarterTurn: try turned(VIPS_ANGLE_D270)
        }
    }

    private func turned(_ angle: VipsAngle) throws(RasterFailure) -> Raster {
        try map { image, out in mz_vips_turn(image, angle, out) }
    }

    private func mirrored() throws(RasterFailure) -> Raster {
        try map { image, out in mz_vips_mirror(image, VIPS_DIRECTION_HORIZONTAL, out) }
    }
}
