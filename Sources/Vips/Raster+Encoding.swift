internal import CVips
internal import Rendering
internal import VariantSpec

extension Raster {
    /// Chroma at half resolution below this quality, where nobody sees it.
    private static let fullChromaQuality = 90

    func encoded(as output: RenderOutput) throws(RasterFailure) -> [UInt8] {
        let (quality, effort) = (Int32(output.quality), Int32(output.effort))
        let isFull: Int32 = output.quality >= Self.fullChromaQuality ? 1 : 0
        let keepsProfile = output.extras.keepsProfile
        let strip: Int32 = keepsProfile ? 0 : 1
        let isProgressive: Int32 = output.isProgressive ? 1 : 0
        switch output.format {
        case .jpeg:
            let file = try encoded { image, out, bytes in
                mz_vips_jpegsave(image, quality, isFull, isProgressive, strip, out, bytes)
            }
            return keepsProfile ? JPEGContainer.bare(file) : file
        case .png: return try encoded { image, out, bytes in mz_vips_pngsave(image, effort, strip, out, bytes) }
        case .webp:
            return WebPContainer.bare(
                try encoded { image, out, bytes in mz_vips_webpsave(image, quality, effort, strip, out, bytes) },
                keepsProfile: keepsProfile)
        case .avif:
            let file = try encoded { image, out, bytes in
                mz_vips_avifsave(image, quality, effort, isFull, strip, out, bytes)
            }
            return keepsProfile ? HEIFContainer.bare(file) : file
        case .gif: return try encoded { image, out, bytes in mz_vips_gifsave(image, effort, out, bytes) }
        case .heic, .tiff, .jxl, .svg: throw RasterFailure(reason: "\(output.format.rawValue) is not written")
        }
    }
}
