internal import CHEIF
internal import VariantSpec

extension Raster {
    /// Encodes a grey picture as AVIF with one channel (4:0:0), and one of alpha if it has some.
    ///
    /// libvips 8.14.1 lets libheif convert it to RGB (libvips#2669). libheif 1.15.1 and libaom can write one channel on
    /// request. All other parameters are those of libvips's saver.
    func encodedGreyAVIF(quality: Int32, effort: Int32, keepsProfile: Bool, packet: [UInt8]?) throws(RasterFailure)
        -> [UInt8]
    {
        func check(_ error: heif_error) throws(RasterFailure) {
            guard error.code == heif_error_Ok else {
                throw RasterFailure(
                    reason: error.message.map { String(cString: $0) } ?? "libheif refused it without a reason")
            }
        }
        let context = heif_context_alloc()
        defer { heif_context_free(context) }
        var encoder: OpaquePointer?
        try check(heif_context_get_encoder_for_format(context, heif_compression_AV1, &encoder))
        defer { heif_encoder_release(encoder) }
        try check(heif_encoder_set_lossy_quality(encoder, quality))
        try check(heif_encoder_set_lossless(encoder, 0))
        try check(heif_encoder_set_parameter_integer(encoder, "speed", 9 - effort))
        var image: OpaquePointer?
        let (width, height) = (Int32(size.width), Int32(size.height))
        try check(heif_image_create(width, height, heif_colorspace_monochrome, heif_chroma_monochrome, &image))
        defer { heif_image_release(image) }
        var planes: [(start: UnsafeMutablePointer<UInt8>, stride: Int)] = []
        for channel in [heif_channel_Y, heif_channel_Alpha].prefix(bands) {
            try check(heif_image_add_plane(image, channel, width, height, 8))
            var stride: Int32 = 0
            guard let start = heif_image_get_plane(image, channel, &stride) else {
                throw RasterFailure(reason: "libheif gave no plane")
            }
            planes.append((start, Int(stride)))
        }
        var next = 0
        try readRows(0..<size.height, columns: 0..<size.width, window: 16) { end, row in
            for y in next..<end {
                for (band, plane) in planes.enumerated() {
                    let (from, to) = (row(y), plane.start + y * plane.stride)
                    for x in 0..<size.width { to[x] = from[x * planes.count + band] }
                }
            }
            next = end
        }
        if keepsProfile,
            let error = withProfile({ heif_image_set_raw_color_profile(image, "prof", $0.baseAddress, $0.count) })
        {
            try check(error)
        }
        var handle: OpaquePointer?
        try check(heif_context_encode_image(context, image, encoder, nil, &handle))
        defer { heif_image_handle_release(handle) }
        if let packet { try check(heif_context_add_XMP_metadata(context, handle, packet, Int32(packet.count))) }
        var writer = heif_writer()
        writer.writer_api_version = 1
        writer.write = { _, bytes, count, file in
            file?.assumingMemoryBound(to: [UInt8].self).pointee += UnsafeRawBufferPointer(start: bytes, count: count)
            return mz_heif_ok()
        }
        var file: [UInt8] = []
        try check(withUnsafeMutablePointer(to: &file) { heif_context_write(context, &writer, $0) })
        return file
    }
}
