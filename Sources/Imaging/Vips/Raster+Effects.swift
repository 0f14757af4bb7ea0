internal import CVips
internal import RenderKit
internal import RenderProtocol
internal import VariantSpec

extension Raster {
    /// Applies one of `SpecOption.effects`.
    func applying(_ effect: SpecOption, _ amount: Int) throws(RasterFailure) -> Raster {
        switch effect {
        case .blur: try blurred(amount)
        case .sharpen: try sharpened(amount)
        default: fatalError("\(effect) has no step that performs it.")
        }
    }

    private func blurred(_ radius: Int) throws(RasterFailure) -> Raster {
        guard hasAlpha else { return try map { image, out in mz_vips_blur(image, Double(radius), out) } }
        return try premultiplied().map { image, out in mz_vips_blur(image, Double(radius), out) }.unpremultiplied()
    }

    /// Sharpens only lightness, at edges: flat parts stay unchanged, with their grain.
    private func sharpened(_ strength: Int) throws(RasterFailure) -> Raster {
        let format = format
        return try map { image, out in mz_vips_sharpen(image, Double(strength) * 0.06, out) }.rounded(to: format)
    }

    /// Whether all of its alpha is opaque; needs eight bits in memory.
    var isOpaque: Bool {
        guard hasAlpha, format == VIPS_FORMAT_UCHAR else { return false }
        let bands = bands
        return withPixels { pixels in
            stride(from: bands - 1, to: pixels.count, by: bands).allSatisfy { pixels[$0] == 255 }
        } ?? false
    }

    /// The same for pixels that are not held: decodes all of them, row after row.
    func isOpaqueThroughout() throws(RasterFailure) -> Bool {
        guard hasAlpha else { return false }
        let last = Int32(bands - 1)
        let least = try map { image, out in mz_vips_band(image, last, out) }.least()
        return least >= (format == VIPS_FORMAT_USHORT ? 65_535 : 255)
    }

    /// The picture without its alpha.
    func coloursAlone() throws(RasterFailure) -> Raster {
        let colours = Int32(bands - 1)
        return try map { image, out in mz_vips_first_bands(image, colours, out) }
    }

    /// Drops fully opaque alpha, which costs bytes and an encoder's time.
    func withoutOpaqueAlpha() throws(RasterFailure) -> Raster {
        isOpaque ? try coloursAlone().inMemory() : self
    }

    /// Puts the picture on a colour, for a format without transparency.
    func flattened(on colour: RGB) throws(RasterFailure) -> Raster {
        let bands = [colour.red, colour.green, colour.blue].map(Double.init)
        // Grey stays grey on grey.
        let isGrey = colourBands == 1
        if isGrey, Set(bands).count > 1 {
            return try map { image, out in mz_vips_colourspace(image, VIPS_INTERPRETATION_sRGB, out) }.flattened(
                on: colour)
        }
        var level = isGrey ? [bands[0]] : bands
        return try map { image, out in mz_vips_flatten(image, &level, Int32(level.count), out) }
    }

    /// Decodes a watermark: in sRGB, with transparency, in memory.
    static func watermark(_ bytes: [UInt8], _ format: ImageFormat) throws(RasterFailure) -> Raster {
        let decoded = try bytes.withUnsafeBufferPointer { bytes throws(RasterFailure) in
            try Raster.open(UnsafeRawBufferPointer(bytes), format, shrink: 1).inMemory()
        }
        let coloured = try decoded.narrowed().inSRGB()
            .map { image, out in mz_vips_colourspace(image, VIPS_INTERPRETATION_sRGB, out) }
        return try (coloured.hasAlpha ? coloured : coloured.map(mz_vips_add_alpha)).inMemory()
    }

    /// Draws a watermark over the picture, as wide as its spec says and never larger than the picture.
    func marked(with picture: Raster, _ mark: Watermark) throws(RasterFailure) -> Raster {
        let base = try map { image, out in mz_vips_colourspace(image, VIPS_INTERPRETATION_sRGB, out) }
        let shape = picture.size
        var width = max(1, size.width * mark.scale / 100)
        var height = max(1, (2 * width * shape.height + shape.width) / (2 * shape.width))
        if height > size.height {
            height = size.height
            width = max(1, height * shape.width / shape.height)
        }
        let (fitWidth, fitHeight) = (Int32(width), Int32(height))
        var top = try picture.map { image, out in mz_vips_shrink_to(image, fitWidth, fitHeight, out) }
        if mark.opacity < 100 {
            top = try top.map { image, out in mz_vips_scale_last(image, Double(mark.opacity) / 100, out) }
        }
        let (x, y) = ((size.width - width) * mark.axis.x / 10, (size.height - height) * mark.axis.y / 10)
        let isOpaque = !hasAlpha
        let overlay = top
        let laid = try base.overlaid(overlay, x: Int32(x), y: Int32(y)).rounded(to: VIPS_FORMAT_UCHAR)
        return isOpaque ? try laid.flattened(on: .white) : laid
    }

    /// A placeholder of a picture in its source's colours; empty if they can't be converted, because it is only a
    /// by-product.
    func placeholderInOwnColours() -> Placeholder {
        // As few pixels as a placeholder needs: transforming all would cost more than it is worth.
        let step = max(1, max(size.width, size.height) / 128)
        let (across, down) = (Int32(min(step, size.width)), Int32(min(step, size.height)))
        let few = try? map { image, out in mz_vips_subsample(image, across, down, out) }.inSRGB()
        return few?.placeholder() ?? Placeholder()
    }

    /// Its colour edges; needs eight-bit pixels in memory. Without colours it has none.
    var colourEdges: ColourEdges? {
        guard format == VIPS_FORMAT_UCHAR else { return nil }
        return withPixels { ColourEdges(in: $0, size, channels: edgeChannels) }
    }

    /// A count of a decode's colour edges that has not begun; nil if the pixels do not have eight bits.
    func uncountedEdges(hasHalfChroma: Bool) -> ColourEdges? {
        guard format == VIPS_FORMAT_UCHAR else { return nil }
        return ColourEdges(decodedAt: size, channels: edgeChannels, hasHalfChroma: hasHalfChroma)
    }

    /// Counts in all rows, which are read once more. Without a count, pixels that are not in memory must stay unread.
    func count(_ edges: inout ColourEdges?) throws(RasterFailure) {
        guard edges != nil else { return }
        try readRows(0..<size.height, columns: 0..<size.width, window: 0) { end, row in
            edges?.take(rowsUpTo: end, row)
        }
    }

    private var edgeChannels: Int { colourBands < 3 ? 1 : bands }

    /// A placeholder from a few of its pixels; needs eight-bit pixels in memory.
    func placeholder() -> Placeholder {
        guard format == VIPS_FORMAT_UCHAR else { return Placeholder() }
        return withPixels { Placeholder($0, width: size.width, height: size.height, channels: bands) } ?? Placeholder()
    }
}
