/// Where a crop keeps the picture, other than by an axis.
package enum Focus: Sendable, Hashable {
    /// So that it keeps these parts of the source, or the most of them, as far as its edges allow.
    case regions([KeptRegion])
    /// Around the point that draws the eye, which is found by looking at the whole source.
    case smart

    /// Around a point of the source, in thousandths of its sides.
    package static func point(x: Int, y: Int) -> Focus { .regions([KeptRegion(x: x, y: y)]) }
}

/// A colour in sRGB.
package struct RGB: Sendable, Hashable {
    package let red: UInt8
    package let green: UInt8
    package let blue: UInt8
    package init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) { (self.red, self.green, self.blue) = (red, green, blue) }
    package static let white = RGB(255, 255, 255)
}

/// A picture laid over a variant, known by its key in `render.watermarks`.
package struct Watermark: Sendable, Hashable {
    /// 1 to 32 small letters and digits.
    package let key: String
    /// Where it lies, in tenths of the free way.
    package let axis: CropAxis
    /// 1...100.
    package let opacity: Int
    /// Its width in hundredths of the variant's, 1...100.
    package let scale: Int

    package init(key: String, axis: CropAxis = CropAxis(x: 10, y: 10), opacity: Int = 100, scale: Int = 20) {
        (self.key, self.axis, self.opacity, self.scale) = (key, axis, opacity, scale)
    }
}

/// How a variant's corners are cut off.
package enum Corners: Sendable, Hashable {
    /// By a radius in pixels of the variant.
    case round(Int)
    /// By half of the shorter side, so that a square becomes a circle.
    case circle

    /// At most half of the shorter side.
    package func radius(in size: PixelSize) -> Double {
        let most = Double(min(size.width, size.height)) / 2
        return switch self {
        case .round(let radius): min(Double(radius), most)
        case .circle: most
        }
    }
}

/// The formats that whoever asked for `auto` accepts beside those that everybody does.
package struct AcceptedFormats: OptionSet, Sendable, Hashable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static let avif = AcceptedFormats(rawValue: 1)
    package static let webp = AcceptedFormats(rawValue: 2)

    /// From an HTTP Accept header. Wildcards never count: every browser sends them, whatever it can show.
    package init(header: String) {
        self = []
        for part in header.lowercased().split(separator: ",") {
            let fields = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            let isRefused = fields.dropFirst().contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) ?? 1 <= 0 }
            guard let name = fields.first, !isRefused else { continue }
            if name == "image/avif" { insert(.avif) }
            if name == "image/webp" { insert(.webp) }
        }
    }
}

/// What few specs ask for beside size, quality and format.
package struct SpecExtras: Sendable, Hashable {
    package var focus: Focus?
    /// The first frame alone, of a source that moves.
    package var isStill = false
    /// Edges of one colour are cut off first.
    package var isTrimmed = false
    /// A turn of the upright source before its size is measured: none, or 90, 180 or 270 degrees clockwise.
    package var rotation = Orientation.upright
    /// The variant has the wanted size exactly, with a border around a picture that fills a part of it.
    package var isPadded = false
    package var corners: Corners?
    package var isGrey = false
    /// What is done to the variant's pixels, and how much: options of `SpecOption.effects`.
    package var effects: [SpecOption: Int] = [:]
    /// What shows through where the source is transparent.
    package var background: RGB?
    package var watermark: Watermark?
    /// The source's own colour profile is kept; otherwise everything is sRGB. Never beside a background or a watermark.
    package var keepsProfile = false
    /// The most bytes that the variant may have; its quality is lowered until it does.
    package var byteBudget: Int?
    /// The format is chosen when the source is known: `auto`.
    package var accepts: AcceptedFormats?

    package init() {}
    package static let none = SpecExtras()

    /// Pixels that no other variant can be made from: something is laid over them, taken off, or in other colours.
    package var isBurnedIn: Bool {
        isTrimmed || rotation != .upright || isPadded || corners != nil || isGrey || !effects.isEmpty
            || background != nil || watermark != nil || keepsProfile
    }

    /// What it shows, or how, is decided by looking at all of the source's own pixels.
    package var needsSource: Bool { isTrimmed || keepsProfile || effects.keys.contains(where: \.needsSource) }

    /// Something that a renderer must know beside what to show, in which size, format and quality.
    package var isDrawn: Bool { isBurnedIn || focus == .smart || byteBudget != nil }

    /// Borders and corners that are transparent, however opaque the source is.
    package var addsAlpha: Bool { (isPadded || corners != nil) && background == nil }

    /// The option whose colours are sRGB's, if there is one: among a source's own numbers they would be other colours.
    var drawnInSRGB: String? { watermark != nil ? "wm" : background != nil ? "bg" : isGrey ? "grey" : nil }

    package static let budgetRange = 256...99_999_999
}
