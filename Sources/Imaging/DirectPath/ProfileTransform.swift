internal import CLCMS
internal import RenderKit
internal import VariantSpec

/// Converts the colours of an embedded profile to sRGB, in place. The last profile's transform is kept, since pictures
/// of one camera arrive together.
///
/// The intent is relative colorimetric with black point compensation, as in `Raster.inSRGB`.
final class ProfileTransform {
    private var source: [UInt8] = []
    private var transform: cmsHTRANSFORM?

    deinit { forget() }

    /// Converts a canvas. A profile that LittleCMS can't use counts as sRGB.
    func convert(_ canvas: Canvas, from profile: UnsafeRawBufferPointer) {
        if !profile.elementsEqual(source) { build(profile) }
        guard let transform else { return }
        cmsDoTransform(transform, canvas.bytes, canvas.bytes, UInt32(canvas.size.pixels))
    }

    private func build(_ profile: UnsafeRawBufferPointer) {
        forget()
        source = Array(profile)
        guard let from = cmsOpenProfileFromMem(profile.baseAddress, UInt32(profile.count)) else { return }
        defer { cmsCloseProfile(from) }
        guard let to = cmsCreate_sRGBProfile() else { return }
        defer { cmsCloseProfile(to) }
        let pixels = mz_lcms_rgb8()
        transform = cmsCreateTransform(
            from, pixels, to, pixels, UInt32(INTENT_RELATIVE_COLORIMETRIC), UInt32(cmsFLAGS_BLACKPOINTCOMPENSATION))
    }

    private func forget() {
        if let transform { cmsDeleteTransform(transform) }
        (source, transform) = ([], nil)
    }
}
