/// Position of a crop that is not given by an axis.
package enum Focus: Sendable, Hashable {
    /// Keeps these parts of the source, or as many of them as the crop and the source's edges allow.
    case regions([KeptRegion])
    /// Lies around the point that draws the eye, which is found by a look at the whole source.
    case smart

    /// A focus on a point of the source, in thousandths of the source's sides.
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

/// Image laid over a variant, found by its key in `render.watermarks`.
package struct Watermark: Sendable, Hashable {
    /// Key of 1 to 32 lower-case letters and digits.
    package let key: String
    /// Position, in tenths of the free space.
    package let axis: CropAxis
    /// Opacity in hundredths, 1...100.
    package let opacity: Int
    /// Width in hundredths of the variant's width, 1...100.
    package let scale: Int

    package init(key: String, axis: CropAxis = CropAxis(x: 10, y: 10), opacity: Int = 100, scale: Int = 20) {
        (self.key, self.axis, self.opacity, self.scale) = (key, axis, opacity, scale)
    }
}

/// Shape of a variant's cut-off corners.
package enum Corners: Sendable, Hashable {
    /// Rounded by a radius in pixels of the variant.
    case round(Int)
    /// Rounded by half of the shorter side, so that a square becomes a circle.
    case circle

    /// Radius in pixels, at most half of the shorter side.
    package func radius(in size: PixelSize) -> Double {
        let most = Double(min(size.width, size.height)) / 2
        return switch self {
        case .round(let radius): min(Double(radius), most)
        case .circle: most
        }
    }
}

/// Formats that the requester of an `auto` variant accepts, beyond the formats that every client accepts.
package struct AcceptedFormats: OptionSet, Sendable, Hashable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static let avif = AcceptedFormats(rawValue: 1)
    package static let webp = AcceptedFormats(rawValue: 2)

    /// Parses an HTTP Accept header. Wildcards never count, because every browser sends them, even for
    /// formats that it cannot show.
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

/// Rarely used options of a spec, besides size, quality and format.
package struct SpecExtras: Sendable, Hashable {
    package var focus: Focus?
    /// Whether only the first frame of an animated source is rendered.
    package var isStill = false
    /// Whether edges of one colour are cut off first.
    package var isTrimmed = false
    /// Turn of the upright source before its size is measured: none, or 90, 180 or 270 degrees clockwise.
    package var rotation = Orientation.upright
    /// Whether the variant has the wanted size exactly, with a border around an image that fills a part of it.
    package var isPadded = false
    package var corners: Corners?
    package var isGrey = false
    /// Effects on the variant's pixels, with their strength. The keys are options of `SpecOption.effects`.
    package var effects: [SpecOption: Int] = [:]
    /// Colour behind transparent parts of the source.
    package var background: RGB?
    package var watermark: Watermark?
    /// Whether the source's own colour profile is kept; otherwise everything is sRGB. Never set together with a
    /// background or a watermark.
    package var keepsProfile = false
    /// Most bytes that the variant may have; its quality is lowered until it fits.
    package var byteBudget: Int?
    /// Formats that `auto` may choose from once the source is known; nil if the spec is not `auto`.
    package var accepts: AcceptedFormats?

    package init() {}
    package static let none = SpecExtras()

    /// Whether the pixels cannot serve as input of another variant, because something was laid over them, cut off or
    /// recoloured.
    package var isBurnedIn: Bool {
        isTrimmed || rotation != .upright || isPadded || corners != nil || isGrey || !effects.isEmpty
            || background != nil || watermark != nil || keepsProfile
    }

    /// Whether the render must see all of the source's own pixels.
    package var needsSource: Bool { isTrimmed || keepsProfile || effects.keys.contains(where: \.needsSource) }

    /// Whether the renderer needs to know more than region, size, format and quality.
    package var isDrawn: Bool { isBurnedIn || focus == .smart || byteBudget != nil }

    /// Whether the variant has transparent borders or corners even if the source is opaque.
    package var addsAlpha: Bool { (isPadded || corners != nil) && background == nil }

    /// Name of the option whose colours are sRGB, if there is one. With the source's own profile, its numbers would
    /// mean other colours.
    var drawnInSRGB: String? { watermark != nil ? "wm" : background != nil ? "bg" : isGrey ? "grey" : nil }

    package static let budgetRange = 256...99_999_999
}
