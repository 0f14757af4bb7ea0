package import Images
package import VariantSpec

/// What a source was found to be when it was decoded, beside its size.
package struct SourceFacts: Sendable, Hashable {
    package var format: ImageFormat
    package var frames: Int
    package var hasAlpha: Bool
    /// EXIF's, 1...8.
    package var orientation: Int
    /// Its file ends early, but behind its last pixel: one that lacks pixels is refused.
    package var isTruncated: Bool
    /// Its colour profile is too large to be read, and its colours were taken as sRGB.
    package var ignoresProfile: Bool

    package init(
        format: ImageFormat, frames: Int = 1, hasAlpha: Bool = false, orientation: Int = 1, isTruncated: Bool = false,
        ignoresProfile: Bool = false
    ) {
        (self.format, self.frames, self.hasAlpha) = (format, frames, hasAlpha)
        (self.orientation, self.isTruncated, self.ignoresProfile) = (orientation, isTruncated, ignoresProfile)
    }

    /// What people want to know of it beside its size; what goes without saying is left out.
    package var notes: [String] {
        var notes = [format.rawValue]
        if frames > 1 { notes.append("\(frames) frames") }
        if hasAlpha { notes.append("transparent") }
        if orientation != 1 { notes.append("stored in orientation \(orientation)") }
        if isTruncated { notes.append("its file ends early") }
        if ignoresProfile { notes.append("its colour profile is too large and ignored") }
        return notes
    }
}

extension PictureFacts {
    /// What goes into the rows of variants made of it.
    package var ofSource: SourceFacts {
        SourceFacts(
            format: format, frames: frames, hasAlpha: hasAlpha, orientation: orientation, isTruncated: isTruncated,
            ignoresProfile: ignoresProfile)
    }
}
