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
/// A value is always in its one canonical form: a zero side has mode `inside`, a format without quality none, a mode
/// that does not crop the central axis, one that something is drawn on in sRGB no profile, a size that is no box no border, so
/// that equal derivatives have equal specs.
package struct VariantSpec: Hashable, Sendable {
    /// Pixels; 0 for a free side. Both 0: the source's own size, written `full`.
    package let width: Int
    package let height: Int
    package let mode: FitMode
    /// 1...100; 0 where the format has none, or none was asked of a format that is not chosen yet.
    package let quality: Int
    /// Of `auto`, before it is chosen, the one that shows any still picture.
    package let format: ImageFormat
    /// Whether a source smaller than the wanted size is enlarged.
    package let enlarge: Bool
    package let axis: CropAxis
    /// Boxed: nearly no spec has any, and specs are copied by the hundred thousand.
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

    /// The source's own size, without a resize.
    package var isFullSize: Bool { width == 0 && height == 0 }

    package var extras: SpecExtras { box?.extras ?? .none }
    package var hasExtras: Bool { box != nil }

    /// Its format is chosen when the source is known.
    package var isAuto: Bool { box?.extras.accepts != nil }

    /// A source that moves comes out moving.
    package var isAnimated: Bool { format.holdsFrames && box?.extras.isStill != true && !isAuto }

    /// What it shows is found in the source's pixels: the placement of its size alone does not tell.
    package var isResolvedByPixels: Bool { box.map { $0.extras.isTrimmed || $0.extras.focus == .smart } ?? false }

    /// The same with other extras.
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
    /// Less what means nothing in a format or mode.
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
