internal import CVips
internal import ImageModel
internal import Rendering

extension Raster {
    /// Exactly `size` pixels from the cut of this raster.
    func cut(_ cut: RenderPlan.Cut, to size: PixelSize) throws(RasterFailure) -> Raster {
        var raster = self
        if cut.size != self.size {
            raster = try raster.map { image, out in
                mz_vips_extract(image, Int32(cut.x), Int32(cut.y), Int32(cut.size.width), Int32(cut.size.height), out)
            }
        }
        guard cut.size != size else { return raster }
        let across = Double(size.width) / Double(cut.size.width)
        let down = Double(size.height) / Double(cut.size.height)
        if across < 1, down < 1, format == VIPS_FORMAT_UCHAR {
            return try raster.reduced(to: size, from: cut.size)
        }
        raster = try raster.map { image, out in mz_vips_resize(image, across, down, out) }
        return try raster.forced(to: size)
    }

    private func reduced(to size: PixelSize, from cut: PixelSize) throws(RasterFailure) -> Raster {
        let low = try map { image, out in mz_vips_reduce_down(image, Double(cut.height) / Double(size.height), out) }.inMemory()
        let lying = try low.turned(VIPS_ANGLE_D90).inMemory()
        let narrow = try lying.map { image, out in mz_vips_reduce_down(image, Double(cut.width) / Double(size.width), out) }.inMemory()
        return try narrow.turned(VIPS_ANGLE_D270).forced(to: size)
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
