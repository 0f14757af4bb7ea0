package import VariantSpec

/// Facts from an image's header, read before anything decodes it.
package struct PictureFacts: Sendable, Hashable {
    package let format: ImageFormat
    /// Size after orientation: the size that people see, from which every other size is computed.
    package let size: PixelSize
    /// EXIF orientation, 1...8; 1 if the file has none.
    package let orientation: Int
    package let frames: Int
    package private(set) var hasAlpha: Bool
    /// Duration of all frames in milliseconds; 0 for a still image.
    package let duration: Int
    /// Whether the file ends before its declared end. Only decoding shows whether pixels are missing.
    package let isTruncated: Bool
    /// Whether the embedded colour profile is too large to be read, so that colours count as sRGB.
    package let ignoresProfile: Bool
    /// Colours of the pixels, if the file declares them by code points and embeds no profile.
    package let colours: ColourCodes?
    package let rights: PictureRights
    /// Estimate of the bytes that the decoder holds at once, at any scale, from the way the file is coded.
    package let memory: Int
    /// Regions that the metadata mark, in the upright image.
    package let regions: [KeptRegion]

    package init(
        format: ImageFormat, size: PixelSize, orientation: Int, frames: Int, hasAlpha: Bool, duration: Int = 0,
        isTruncated: Bool = false, ignoresProfile: Bool = false, colours: ColourCodes? = nil,
        rights: PictureRights = PictureRights(), memory: Int = 0, regions: [KeptRegion] = []
    ) {
        (self.duration, self.isTruncated, self.colours, self.rights) = (duration, isTruncated, colours, rights)
        self.ignoresProfile = ignoresProfile
        (self.format, self.size, self.orientation) = (format, size, orientation)
        (self.frames, self.hasAlpha, self.memory, self.regions) = (frames, hasAlpha, memory, regions)
    }

    /// The same facts for an image whose alpha channel is opaque throughout.
    package var opaque: PictureFacts {
        var facts = self
        facts.hasAlpha = false
        return facts
    }
}
