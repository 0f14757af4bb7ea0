internal import CVips
internal import Glibc
internal import VariantSpec

extension Raster {
    /// Centres the picture in a transparent box.
    func padded(to size: PixelSize) throws(RasterFailure) -> Raster {
        guard size != self.size else { return self }
        let (x, y) = (Int32(size.width - self.size.width) / 2, Int32(size.height - self.size.height) / 2)
        return try withAlpha().map { image, out in
            mz_vips_pad(image, x, y, Int32(size.width), Int32(size.height), out)
        }
    }

    /// Makes corners transparent outside an arc; needs eight bits.
    func cut(_ corners: Corners) throws(RasterFailure) -> Raster {
        let (base, radius) = (try withAlpha().inMemory(), corners.radius(in: size))
        let (bands, size) = (base.bands, size)
        /// Distance of a pixel's centre beyond the start of the arcs, along one side.
        func beyond(_ place: Int, of side: Int) -> Double {
            let middle = Double(place) + 0.5
            return max(radius - middle, middle - (Double(side) - radius))
        }
        return try base.written(as: size) { memory throws(RasterFailure) in
            let isCopied: Void? = base.withPixels { pixels in
                UnsafeMutableRawPointer(memory).copyMemory(from: pixels.baseAddress!, byteCount: pixels.count)
            }
            guard isCopied != nil else { throw RasterFailure(reason: VipsLibrary.takeError()) }
            for y in 0..<size.height {
                let down = beyond(y, of: size.height)
                guard down > 0 else { continue }
                for x in 0..<size.width {
                    let across = beyond(x, of: size.width)
                    guard across > 0 else { continue }
                    let cover = min(max(0, radius + 0.5 - hypot(across, down)), 1)
                    let alpha = (y * size.width + x + 1) * bands - 1
                    memory[alpha] = UInt8((Double(memory[alpha]) * cover).rounded())
                }
            }
        }
    }

    /// Converts to one channel by the lightness of each colour.
    func inGrey() throws(RasterFailure) -> Raster {
        try map { image, out in mz_vips_colourspace(image, VIPS_INTERPRETATION_B_W, out) }
    }

    private func withAlpha() throws(RasterFailure) -> Raster { hasAlpha ? self : try map(mz_vips_add_alpha) }
}
