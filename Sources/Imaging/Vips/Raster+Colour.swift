internal import CVips
internal import Images
internal import RenderKit

extension Raster {
    private var profile: ProfileKind {
        let pixels: ProfileKind.Pixels = isCMYK ? .cmyk : colourBands == 1 ? .grey : .rgb
        return withProfile { ProfileKind($0, for: pixels) } ?? .none
    }

    /// White stays white, displayable colours stay unchanged, and a device's darkest colour becomes black. The darkest
    /// ink on paper is a grey, so without this photographs came out washed out (73 points of SSIMULACRA2 compared to
    /// Pillow and sharp, now 97). Screens have a black, so it changes nothing between their profiles. A profile with
    /// tables for only the perceptual intent (JPEG XL's XYB has one) gives nonsense with it; its black is already
    /// black.
    private var intent: VipsIntent {
        withProfile { bytes -> VipsIntent in
            guard bytes.count >= 132 else { return VIPS_INTENT_RELATIVE }
            let count = bytes[128..<132].reduce(0) { $0 << 8 | Int($1) }
            func has(_ tag: String) -> Bool {
                (0..<min(count, 128)).contains { bytes.has(tag, at: 132 + 12 * $0) }
            }
            return has("A2B0") && !has("A2B1") ? VIPS_INTENT_PERCEPTUAL : VIPS_INTENT_RELATIVE
        } ?? VIPS_INTENT_RELATIVE
    }

    var isCMYK: Bool { interpretation == VIPS_INTERPRETATION_CMYK }
    /// Whether colours are independent of a device: CIELAB, XYZ, linear light.
    var isDeviceIndependent: Bool {
        [
            VIPS_INTERPRETATION_LAB, VIPS_INTERPRETATION_LABS, VIPS_INTERPRETATION_LABQ, VIPS_INTERPRETATION_XYZ,
            VIPS_INTERPRETATION_scRGB,
        ].contains { $0 == interpretation }
    }
    private var is16Bit: Bool { format == VIPS_FORMAT_USHORT }
    var colourBands: Int { bands - (hasAlpha ? 1 : 0) }

    /// Reduces pixels to eight bits if nothing is lost: 16 bits stay only until a profile has been applied.
    ///
    /// - Parameter keepsProfile: whether the numbers keep the meaning that the profile gives them.
    func narrowed(keepsProfile: Bool = false) throws(RasterFailure) -> Raster {
        guard is16Bit else { return self }
        // Only a profile defines ink colours: libvips's own rule is paler than the same inks of eight bits.
        if isCMYK { return try map(mz_vips_msb).map(mz_vips_name_inks) }
        if keepsProfile, profile == .other { return try map(mz_vips_msb) }
        guard hasAlpha || profile != .other else { return self }
        let space = colourBands == 1 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        return try map { image, out in mz_vips_colourspace(image, space, out) }
    }

    /// Applies the corrections that libheif left out: grey range, and colours divided by alpha.
    func corrected(by pixels: HEIFPixels) throws(RasterFailure) -> Raster {
        var raster = self
        if pixels.isLimitedGrey {
            let (format, unit) = (format, is16Bit ? 256.0 : 1)
            let scale = (is16Bit ? 65_535 : 255) / (219 * unit)
            var scales = [Double](repeating: scale, count: colourBands) + (hasAlpha ? [1] : [])
            var offsets = [Double](repeating: -16 * unit * scale, count: colourBands) + (hasAlpha ? [0] : [])
            let count = Int32(bands)
            raster = try map { image, out in mz_vips_linear(image, &scales, &offsets, count, out) }.rounded(to: format)
        }
        return pixels.isPremultiplied && hasAlpha ? try raster.unpremultiplied() : raster
    }

    /// Attaches a profile for the colours that the file names by code points. A profile for more light than a screen
    /// has is not kept.
    func naming(_ colours: ColourCodes, keepsProfile: Bool) throws(RasterFailure) -> Raster {
        let isGrey = colourBands == 1
        guard isGrey || colourBands == 3, let profile = CodedProfile.bytes(for: colours, isGrey: isGrey) else {
            return self
        }
        let tagged = try tagged(profile)
        return keepsProfile && colours.isHDR ? try tagged.inSRGB() : tagged
    }

    /// Converts to sRGB, or grey, only if a profile is embedded, since 8.14.1 darkens untagged pictures otherwise.
    func inSRGB() throws(RasterFailure) -> Raster {
        if isCMYK {
            let isEmbedded: Int32 = profile == .none ? 0 : 1
            let intent = intent
            return try map { image, out in mz_vips_to_srgb(image, isEmbedded, "cmyk", intent, out) }.withoutMetadata()
        }
        if isDeviceIndependent {
            // A TIFF's CIELAB has the print white D50; libvips assumes D65.
            let isLab = interpretation != VIPS_INTERPRETATION_XYZ && interpretation != VIPS_INTERPRETATION_scRGB
            return try (isLab ? map(mz_vips_lab_of_d50) : self).map { image, out in
                mz_vips_colourspace(image, VIPS_INTERPRETATION_sRGB, out)
            }.withoutMetadata()
        }
        guard profile == .other else { return try narrowed() }
        do {
            let intent = intent
            let converted = try map { image, out in mz_vips_to_srgb(image, 1, "srgb", intent, out) }.withoutMetadata()
            guard colourBands == 1, converted.colourBands == 3 else { return converted }
            // Grey stays grey: its three channels are equal.
            let hasAlpha: Int32 = hasAlpha ? 1 : 0
            return try converted.map { image, out in mz_vips_grey(image, hasAlpha, out) }
        } catch {
            // A damaged profile counts as sRGB.
            return try withoutMetadata().narrowed()
        }
    }

    /// Multiplies colours by alpha, so that transparent pixels do not bleed into edges.
    func premultiplied() throws(RasterFailure) -> Raster {
        let format = format
        return try map(mz_vips_premultiply).rounded(to: format)
    }

    func unpremultiplied() throws(RasterFailure) -> Raster {
        let format = format
        return try map(mz_vips_unpremultiply).rounded(to: format)
    }

    /// Rounds first, because a cast alone would cut fractions off, and darken.
    func rounded(to format: VipsBandFormat) throws(RasterFailure) -> Raster {
        try map(mz_vips_round).map { image, out in mz_vips_cast(image, format, out) }
    }
}
