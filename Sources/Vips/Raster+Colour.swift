internal import CVips
internal import Rendering

extension Raster {
    /// What an embedded profile means for these pixels.
    private enum Profile {
        /// None, one that does not fit the pixels, one too large to be believed: the pixels are taken as sRGB.
        case none
        /// sRGB itself: nothing to convert.
        case same
        case other
    }

    private var profile: Profile {
        withProfile { bytes -> Profile in
            // Profiles are a few kilobytes; LittleCMS reads whatever it is given.
            guard (128...1 << 20).contains(bytes.count) else { return .none }
            let space: StaticString = isCMYK ? "CMYK" : colourBands == 1 ? "GRAY" : "RGB "
            guard bytes.has(space, at: 16) else { return .none }
            return bytes.has("IEC sRGB", at: 48) ? .same : .other
        } ?? .none
    }

    private var isCMYK: Bool { interpretation == VIPS_INTERPRETATION_CMYK }
    private var is16Bit: Bool { format == VIPS_FORMAT_USHORT }
    private var colourBands: Int { bands - (hasAlpha ? 1 : 0) }

    /// Eight bits where nothing more is to be won: 16 bits stay only until a profile has been applied to them.
    func narrowed() throws(RasterFailure) -> Raster {
        guard is16Bit, hasAlpha || profile != .other else { return self }
        let space = colourBands == 1 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        return try map { image, out in mz_vips_colourspace(image, space, out) }
    }

    /// sRGB, or grey: converted only where a profile is embedded, since 8.14.1 darkens untagged pictures otherwise.
    func inSRGB() throws(RasterFailure) -> Raster {
        if isCMYK {
            let isEmbedded: Int32 = profile == .none ? 0 : 1
            return try map { image, out in mz_vips_to_srgb(image, isEmbedded, "cmyk", out) }.withoutMetadata()
        }
        guard profile == .other else { return try narrowed() }
        do {
            return try map { image, out in mz_vips_to_srgb(image, 1, "srgb", out) }.withoutMetadata()
        } catch {
            // A damaged profile means sRGB.
            return try withoutMetadata().narrowed()
        }
    }

    /// Colours weighted by how much of them shows, so that what is transparent does not bleed into edges.
    func premultiplied() throws(RasterFailure) -> Raster {
        let format = format
        return try map(mz_vips_premultiply).rounded(to: format)
    }

    func unpremultiplied() throws(RasterFailure) -> Raster {
        let format = format
        return try map(mz_vips_unpremultiply).rounded(to: format)
    }

    /// On white, as a format without transparency shows it.
    func flattened() throws(RasterFailure) -> Raster {
        try map { image, out in mz_vips_flatten(image, 255, out) }
    }

    /// A cast alone would cut fractions off, and darken.
    private func rounded(to format: VipsBandFormat) throws(RasterFailure) -> Raster {
        try map(mz_vips_round).map { image, out in mz_vips_cast(image, format, out) }
    }
}

extension UnsafeRawBufferPointer {
    func has(_ text: StaticString, at offset: Int) -> Bool {
        count >= offset + text.utf8CodeUnitCount
            && (0..<text.utf8CodeUnitCount).allSatisfy { self[offset + $0] == text.utf8Start[$0] }
    }
}
