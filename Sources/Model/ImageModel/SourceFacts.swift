package import Images
package import VariantSpec

/// Properties of a source found when it was decoded, except its size.
package struct SourceFacts: Sendable, Hashable {
    package var format: ImageFormat
    package var frames: Int
    package var hasAlpha: Bool
    /// EXIF orientation, 1...8.
    package var orientation: Int
    /// Whether the file ends early, but after its last pixel. A file that lacks pixels is refused.
    package var isTruncated: Bool
    /// Whether the embedded colour profile is too large to be read, so that colours count as sRGB.
    package var ignoresProfile: Bool
    /// Whether its decode has colour edges as coloured text, charts and screenshots have them; nil: not looked at, as in
    /// rows of 43cee9c and formats that no camera writes. It then counts as a drawing.
    package var isDrawing: Bool?

    package init(
        format: ImageFormat, frames: Int = 1, hasAlpha: Bool = false, orientation: Int = 1, isTruncated: Bool = false,
        ignoresProfile: Bool = false
    ) {
        (self.format, self.frames, self.hasAlpha) = (format, frames, hasAlpha)
        (self.orientation, self.isTruncated, self.ignoresProfile) = (orientation, isTruncated, ignoresProfile)
    }

    /// Properties worth showing to people; usual values are left out.
    ///
    /// - Parameter frameLimit: number of frames after which an inspector may stop counting.
    package func notes(frameLimit: Int = .max) -> [String] {
        var notes = [format.rawValue]
        if frames > 1 { notes.append(frames > frameLimit ? "more than \(frameLimit) frames" : "\(frames) frames") }
        if hasAlpha { notes.append("transparent") }
        if orientation != 1 { notes.append("stored in orientation \(orientation)") }
        if isTruncated { notes.append("its file ends early") }
        if ignoresProfile { notes.append("its colour profile is too large and ignored") }
        return notes
    }
}

extension PictureFacts {
    /// Facts about this image that rows of its variants record.
    package var ofSource: SourceFacts {
        SourceFacts(
            format: format, frames: frames, hasAlpha: hasAlpha, orientation: orientation, isTruncated: isTruncated,
            ignoresProfile: ignoresProfile)
    }
}
