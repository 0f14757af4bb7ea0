internal import CVips
internal import RenderKit
internal import RenderProtocol
internal import VariantSpec

extension Raster {
    /// Exactly the step's size, from what it shows of this raster.
    func made(by step: RenderPlan.Step) throws(RasterFailure) -> Raster {
        let (across, down, size) = (step.across, step.down, step.size)
        var raster = self
        if across.count != self.size.width || down.count != self.size.height {
            raster = try raster.map { image, out in
                mz_vips_extract(
                    image, Int32(across.start), Int32(down.start), Int32(across.count), Int32(down.count), out)
            }
        }
        raster = try raster.reduced(across.exactLength / Double(size.width), down.exactLength / Double(size.height))
        return try raster.enlarged(across, down, to: size).forced(to: size)
    }

    /// Fewer pixels on the axes where the factor is above 1: rows first, while they are whole.
    private func reduced(_ across: Double, _ down: Double) throws(RasterFailure) -> Raster {
        var raster = self
        if down > 1 { raster = try raster.map { image, out in mz_vips_reduce_down(image, down, out) } }
        guard across > 1 else { return raster }
        guard format == VIPS_FORMAT_UCHAR else {
            return try raster.map { image, out in mz_vips_reduce_across(image, across, out) }
        }
        // libvips 8.14 has vectors for columns of 8 bits only: turning the picture twice costs less than going without.
        raster = try raster.inMemory().turned(VIPS_ANGLE_D90).inMemory()
        raster = try raster.map { image, out in mz_vips_reduce_down(image, across, out) }.inMemory()
        return try raster.turned(VIPS_ANGLE_D270)
    }

    /// More pixels on the axes that want them, each of them at its exact place; libvips's own resize would shift them.
    private func enlarged(
        _ across: RenderPlan.AxisCrop, _ down: RenderPlan.AxisCrop, to size: PixelSize
    ) throws(RasterFailure) -> Raster {
        let (right, below) = (across.magnification(to: size.width), down.magnification(to: size.height))
        guard right.scale > 1 || below.scale > 1 else { return self }
        return try map { image, out in
            mz_vips_enlarge(
                image, right.scale, below.scale, right.offset, below.offset, Int32(size.width), Int32(size.height), out)
        }
    }

    /// An SVG at the size of its header. libvips has a size of its own for a root that gives one side alone, or none in
    /// pixels, and rounds in its own way.
    func drawn(from bytes: UnsafeRawBufferPointer, at size: PixelSize) throws(RasterFailure) -> Raster {
        func isNear(_ raster: Raster) -> Bool {
            abs(raster.size.width - size.width) <= 1 && abs(raster.size.height - size.height) <= 1
        }
        if isNear(self) { return try forced(to: size) }
        // The longer side is rounded least.
        let scale =
            size.width > size.height
            ? Double(size.width) / Double(self.size.width) : Double(size.height) / Double(self.size.height)
        let scaled = try Raster.open(bytes, .svg, shrink: 1, scale: scale)
        return isNear(scaled) ? try scaled.forced(to: size) : scaled
    }

    /// A pixel more or less that libvips's own rounding may leave is cut off or repeated.
    private func forced(to size: PixelSize) throws(RasterFailure) -> Raster {
        var raster = self
        if raster.size.width < size.width || raster.size.height < size.height {
            let (width, height) = (max(size.width, raster.size.width), max(size.height, raster.size.height))
            raster = try raster.map { image, out in mz_vips_extend(image, Int32(width), Int32(height), out) }
        }
        guard raster.size != size else { return raster }
        return try raster.map { image, out in mz_vips_extract(image, 0, 0, Int32(size.width), Int32(size.height), out) }
    }

    /// As people see it; needs pixels in memory.
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

extension RenderPlan.AxisCrop {
    /// How much larger the pixels cut out become, and how far their grid lies beside what is wanted of them; 1 and 0
    /// where they were reduced already.
    fileprivate func magnification(to output: Int) -> (scale: Double, offset: Double) {
        let scale = Double(output) / exactLength
        return scale > 1 ? (scale, Double(start) - exactStart) : (1, 0)
    }
}
