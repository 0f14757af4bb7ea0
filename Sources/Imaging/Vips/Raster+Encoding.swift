internal import CVips
internal import RenderKit
package import RenderProtocol
internal import VariantSpec

extension Raster {
    package func encoded(as output: RenderOutput) throws(RasterFailure) -> [UInt8] {
        let (quality, effort) = (Int32(output.quality), Int32(output.effort))
        let isFull: Int32 = output.hasFullChroma ? 1 : 0
        let isSharp: Int32 = output.hasChromaDetail ? 1 : 0
        let keepsProfile = output.extras.keepsProfile
        let strip: Int32 = keepsProfile ? 0 : 1
        let packet = output.packet
        let isProgressive: Int32 = output.isProgressive ? 1 : 0
        guard let encoder = output.format.output?.encoder else {
            throw RasterFailure(reason: "\(output.format.rawValue) is not written")
        }
        switch encoder {
        case .jpeg:
            let file = try encoded { image, out, bytes in
                mz_vips_jpegsave(image, quality, isFull, isProgressive, strip, out, bytes)
            }
            return keepsProfile ? JPEGContainer.bare(file) : file
        case .png: return try encoded { image, out, bytes in mz_vips_pngsave(image, effort, strip, out, bytes) }
        case .webp:
            return WebPContainer.bare(
                try encoded { image, out, bytes in mz_vips_webpsave(image, quality, effort, isSharp, strip, out, bytes)
                },
                keepsProfile: keepsProfile)
        case .avif:
            if colourBands == 1, format == VIPS_FORMAT_UCHAR {
                return try encodedGreyAVIF(quality: quality, effort: effort, keepsProfile: keepsProfile, packet: packet)
            }
            let file = try encoded { image, out, bytes in
                if let packet { vips_image_set_blob_copy(image, VIPS_META_XMP_NAME, packet, packet.count) }
                return mz_vips_avifsave(image, quality, effort, isFull, packet == nil ? strip : 0, out, bytes)
            }
            return keepsProfile || packet != nil ? HEIFContainer.bare(file, keepsPacket: packet != nil) : file
        case .gif: return try encoded { image, out, bytes in mz_vips_gifsave(image, effort, out, bytes) }
        }
    }
}
