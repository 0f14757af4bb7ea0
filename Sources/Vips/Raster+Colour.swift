internal import CVips

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

    /// White stays white, what can be shown as it is stays so, and the darkest that a device has becomes black: of ink on
    /// paper that is a grey, and a photograph came out washed out (73 points of SSIMULACRA2 beside what Pillow and sharp
    /// give, now 97). Screens have a black: between their profiles nothing changes by it. A profile of tables for the
    /// perceptual intent alone (JPEG XL's XYB has one) gives nonsense with that; its black is black already.
    private var intent: VipsIntent {
        withProfile { bytes -> VipsIntent in
            guard bytes.count >= 132 else { return VIPS_INTENT_RELATIVE }
            let count = bytes[128..<132].reduce(0) { $0 << 8 | Int($1) }
            func has(_ tag: StaticString) -> Bool {
                (0..<min(count, 128)).contains { bytes.has(tag, at: 132 + 12 * $0) }
            }
            return has("A2B0") && !has("A2B1") ? VIPS_INTENT_PERCEPTUAL : VIPS_INTENT_RELATIVE
        } ?? VIPS_INTENT_RELATIVE
    }

    var isCMYK: Bool { interpretation == VIPS_INTERPRETATION_CMYK }
    /// Colours as they are seen, not as a device shows them: CIELAB, XYZ, linear light.
    private var isDeviceIndependent: Bool {
        [
            VIPS_INTERPRETATION_LAB, VIPS_INTERPRETATION_LABS, VIPS_INTERPRETATION_LABQ, VIPS_INTERPRETATION_XYZ,
            VIPS_INTERPRETATION_scRGB,
        ].contains { $0 == interpretation }
    }
    private var is16Bit: Bool { format == VIPS_FORMAT_USHORT }
    var colourBands: Int { bands - (hasAlpha ? 1 : 0) }

    /// Eight bits where nothing more is to be won: 16 bits stay only until a profile has been applied to them.
    ///
    /// - Parameter keepsProfile: the numbers stay what the profile says that they are.
    func narrowed(keepsProfile: Bool = false) throws(RasterFailure) -> Raster {
        guard is16Bit else { return self }
        if keepsProfile, profile == .other { return try map(mz_vips_msb) }
        guard hasAlpha || profile != .other else { return self }
        let space = colourBands == 1 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        return try map { image, out in mz_vips_colourspace(image, space, out) }
    }

    /// sRGB, or grey: converted only where a profile is embedded, since 8.14.1 darkens untagged pictures otherwise.
    func inSRGB() throws(RasterFailure) -> Raster {
        if isCMYK {
            let isEmbedded: Int32 = profile == .none ? 0 : 1
            let intent = intent
            return try map { image, out in mz_vips_to_srgb(image, isEmbedded, "cmyk", intent, out) }.withoutMetadata()
        }
        if isDeviceIndependent {
            return try map { image, out in mz_vips_colourspace(image, VIPS_INTERPRETATION_sRGB, out) }.withoutMetadata()
        }
        guard profile == .other else { return try narrowed() }
        do {
            let intent = intent
            return try map { image, out in mz_vips_to_srgb(image, 1, "srgb", intent, out) }.withoutMetadata()
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

    /// A cast alone would cut fractions off, and darken.
    func rounded(to format: VipsBandFormat) throws(RasterFailure) -> Raster {
        try map(mz_vips_round).map { image, out in mz_vips_cast(image, format, out) }
    }
}

extension UnsafeRawBufferPointer {
    func has(_ text: StaticString, at offset: Int) -> Bool {
        count >= offset + text.utf8CodeUnitCount
            && (0..<text.utf8CodeUnitCount).allSatisfy { self[offset + $0] == text.utf8Start[$0] }
    }
}
