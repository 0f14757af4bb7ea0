/// How the wanted size bounds the picture.
package enum FitMode: String, Sendable, Hashable, CaseIterable {
    /// `640x480`: the whole picture inside the size.
    case inside = "x"
    /// `640z480`: the whole picture covering the size.
    case cover = "z"
    /// `640y480`: covering the size, then cropped to it.
    case crop = "y"
}

/// Where a crop keeps the picture: tenths of the free way from the left and the top; 5,5 is the middle.
package struct CropAxis: Sendable, Hashable {
    package let x: Int
    package let y: Int
    package init(x: Int, y: Int) { (self.x, self.y) = (x, y) }
    package static let centre = CropAxis(x: 5, y: 5)
}

/// Size, mode, quality, format and options of one derivative; written `640x480-q80.webp`.
///
/// A value is always in its one canonical form: a zero side has mode `inside`, a lossless format no quality, a mode
/// that does not crop the central axis, so that equal derivatives have equal specs.
package struct VariantSpec: Hashable, Sendable {
    /// Pixels; 0 for a free side. Both 0: the source's own size, written `full`.
    package let width: Int
    package let height: Int
    package let mode: FitMode
    /// 1...100; 0 where the format is lossless.
    package let quality: Int
    package let format: ImageFormat
    /// Whether a source smaller than the wanted size is enlarged.
    package let enlarge: Bool
    package let axis: CropAxis

    package init(
        width: Int, height: Int, mode: FitMode = .inside, quality: Int = 80, format: ImageFormat,
        enlarge: Bool = false, axis: CropAxis = .centre
    ) {
        let mode = width == 0 || height == 0 ? .inside : mode
        (self.width, self.height, self.mode) = (width, height, mode)
        self.quality = format.isLossless ? 0 : quality
        self.format = format
        self.enlarge = enlarge && !(width == 0 && height == 0)
        self.axis = mode == .crop ? axis : .centre
    }

    /// The source's own size, without a resize.
    package var isFullSize: Bool { width == 0 && height == 0 }
}
