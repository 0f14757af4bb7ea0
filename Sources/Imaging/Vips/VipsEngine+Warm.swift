internal import CVips
internal import Images
internal import RenderProtocol
internal import VariantSpec

extension VipsEngine {
    /// Decodes, converts, resizes and encodes a small picture in every format that is read and written.
    ///
    /// HEIC, which is only read, is not warmed: after AVIF, its first decode opens no file and takes a millisecond
    /// longer.
    func warm(_ formats: Set<ImageFormat>) throws(EngineFailure) {
        do throws(RasterFailure) {
            let noise = try Raster.make { mz_vips_noise(96, 64, $0) }
                .map { image, out in mz_vips_cast(image, VIPS_FORMAT_UCHAR, out) }.map(mz_vips_join3).map(
                    mz_vips_name_srgb)
            _ = try noise.map { image, out in mz_vips_to_srgb(image, 0, "p3", VIPS_INTENT_RELATIVE, out) }.inMemory()
            _ = try noise.map { image, out in mz_vips_to_srgb(image, 0, "srgb", VIPS_INTENT_RELATIVE, out) }.inMemory()
            // Operations that liborc compiles: it maps the memory for all of its machine code at the first one.
            _ = try noise.map { image, out in mz_vips_blur(image, 2, out) }.inMemory()
            _ = try noise.map { image, out in mz_vips_shrink_to(image, 40, 27, out) }.inMemory()
            let size = noise.size
            for format in ImageFormat.written {
                func output(_ size: PixelSize) -> RenderOutput {
                    RenderOutput(
                        format: format, quality: 80, effort: 2, size: size,
                        crop: Region(x: 0, y: 0, width: 96, height: 64))
                }
                let bytes = try noise.encoded(as: output(size))
                guard formats.contains(format) else { continue }
                let outputs = [PixelSize(width: 40, height: 27), PixelSize(width: 33, height: 22)].map(output)
                let facts = PictureFacts(format: format, size: size, orientation: 1, frames: 1, hasAlpha: false)
                let request = RenderRequest(facts: facts, isReuse: true, deadlineMilliseconds: 0, outputs: outputs)
                do throws(EngineFailure) {
                    try bytes.withUnsafeBufferPointer { bytes throws(EngineFailure) in
                        try render(UnsafeRawBufferPointer(bytes), request) { _, _ in }
                    }
                } catch { throw RasterFailure(reason: "warming \(format.rawValue): \(error)") }
            }
            // Last, so that no lasting memory lies above the memory that it allocates and frees.
            try warmReductions(of: noise)
        } catch {
            throw .source(reason: error.reason)
        }
    }

    /// Compiles more loops at once than a render does. liborc maps 64 KiB for them whenever it runs out of room, and
    /// the filter for system calls forbids that.
    private func warmReductions(of raster: Raster) throws(RasterFailure) {
        var reductions: [Raster] = []
        for number in 1...Self.reductions {
            let factor = 1 + Double(number) / 16
            reductions.append(try raster.map { image, out in mz_vips_reduce_down(image, factor, out) })
        }
        _ = try reductions.last?.inMemory()
    }

    private static let reductions = 32
}
