package import VariantSpec

/// What a picture's header says, read before anything decodes it.
package struct PictureFacts: Sendable, Hashable {
    package let format: ImageFormat
    /// After orientation: what people see, and what every size is computed from.
    package let size: PixelSize
    /// EXIF orientation, 1...8; 1 where there is none.
    package let orientation: Int
    package let frames: Int
    package private(set) var hasAlpha: Bool
    /// Of all frames, in milliseconds; 0 where it stands still.
    package let duration: Int
    /// The file ends before what it says of itself does; whether pixels are lacking, only decoding tells.
    package let isTruncated: Bool
    /// It embeds a colour profile that is too large to be read: its colours are taken as sRGB.
    package let ignoresProfile: Bool
    /// Of its pixels, where the file names them by code points and embeds no profile.
    package let colours: ColourCodes?
    package let rights: PictureRights
    /// Bytes that its decoder holds at once, at any scale: by the estimate of how it is coded.
    package let memory: Int
    /// What its metadata mark, upright.
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

    /// The same of a picture whose alpha shows nothing.
    package var opaque: PictureFacts {
        var facts = self
        facts.hasAlpha = false
        return facts
    }
}
