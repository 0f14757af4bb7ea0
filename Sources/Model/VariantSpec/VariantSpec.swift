/// Relation of the image to the wanted size.
package enum FitMode: String, Sendable, Hashable, CaseIterable {
    /// `640x480`: fits the whole image inside the size.
    case inside = "x"
    /// `640z480`: scales the whole image to cover the size.
    case cover = "z"
    /// `640y480`: scales the image to cover the size, then crops it to the size.
    case crop = "y"
}

/// Position of a crop, in tenths of the free space from the left and from the top; 5,5 is the middle.
package struct CropAxis: Sendable, Hashable {
    package let x: Int
    package let y: Int
    package init(x: Int, y: Int) { (self.x, self.y) = (x, y) }
    package static let centre = CropAxis(x: 5, y: 5)
}

/// Size, mode, quality, format and options of one variant; written `640x480-q80.webp`.
///
/// A value is always in its canonical form, so that equal variants have equal specs:
/// - a size with a zero side has mode `inside` and no border,
/// - a format without quality has quality 0,
/// - a mode that does not crop has the central axis,
/// - a spec with colours drawn in sRGB keeps no profile.
package struct VariantSpec: Hashable, Sendable {
    /// Width in pixels; 0 for a free side. Both sides 0: the source's own size, written `full`.
    package let width: Int
    package let height: Int
    package let mode: FitMode
    /// Quality, 1...100. 0 if the format has none, or if an `auto` spec names none.
    package let quality: Int
    /// Output format. Until `auto` is chosen it is JPEG, which can show any still image.
    package let format: ImageFormat
    /// Whether a source smaller than the wanted size is enlarged.
    package let enlarge: Bool
    package let axis: CropAxis
    /// Boxed, because nearly no spec has extras, and specs are copied by the hundred thousand.
    private let box: Box?

    package init(
        width: Int, height: Int, mode: FitMode = .inside, quality: Int = 80, format: ImageFormat,
        enlarge: Bool = false, axis: CropAxis = .centre, extras: SpecExtras = .none
    ) {
        let mode = width == 0 || height == 0 ? .inside : mode
        (self.width, self.height, self.mode) = (width, height, mode)
        self.format = extras.accepts == nil ? format : .jpeg
        self.quality = extras.accepts != nil || format.hasQuality ? quality : 0
        self.enlarge = enlarge && !(width == 0 && height == 0)
        let extras = extras == .none ? .none : extras.canonical(in: format, mode, isBox: width > 0 && height > 0)
        self.axis = mode == .crop && extras.focus == nil ? axis : .centre
        box = extras == .none ? nil : Box(extras)
    }

    /// Whether the variant has the source's own size, without a resize.
    package var isFullSize: Bool { width == 0 && height == 0 }

    package var extras: SpecExtras { box?.extras ?? .none }
    package var hasExtras: Bool { box != nil }

    /// Whether the format is chosen when the source is known.
    package var isAuto: Bool { box?.extras.accepts != nil }

    /// Whether an animated source gives an animated variant.
    package var isAnimated: Bool { format.holdsFrames && box?.extras.isStill != true && !isAuto }

    /// Whether the shown part is found in the source's pixels, so that the source's size alone does not determine it.
    package var isResolvedByPixels: Bool { box.map { $0.extras.isTrimmed || $0.extras.focus == .smart } ?? false }

    /// The same spec with other extras.
    package func with(_ extras: SpecExtras, format: ImageFormat? = nil, quality: Int? = nil) -> VariantSpec {
        VariantSpec(
            width: width, height: height, mode: mode, quality: quality ?? self.quality, format: format ?? self.format,
            enlarge: enlarge, axis: axis, extras: extras)
    }

    private final class Box: Sendable, Hashable {
        let extras: SpecExtras
        init(_ extras: SpecExtras) { self.extras = extras }
        static func == (a: Box, b: Box) -> Bool { a === b || a.extras == b.extras }
        func hash(into hasher: inout Hasher) { hasher.combine(extras) }
    }
}

extension SpecExtras {
    /// Extras that have an effect in a format and mode.
    fileprivate func canonical(in format: ImageFormat, _ mode: FitMode, isBox: Bool) -> SpecExtras {
        var extras = self
        if mode != .crop { extras.focus = nil }
        if mode != .inside || !isBox { extras.isPadded = false }
        if extras.drawnInSRGB != nil { extras.keepsProfile = false }
        guard accepts == nil else { return extras }
        if !format.holdsFrames { extras.isStill = false }
        if !format.holdsProfile { extras.keepsProfile = false }
        if !format.holdsAlpha, background == .white { extras.background = nil }
        return extras
    }
}
