/// Options of a spec, in the order in which they are written.
///
/// This is the one table for the parser, the writer, the messages of faults and the reference page.
package enum SpecOption: String, CaseIterable, Sendable {
    case quality = "q"
    case axis, focus, smart, enlarge, still, trim, rotate, pad, blur, sharpen, grey
    case background = "bg"
    case watermark = "wm"
    case round, circle, profile
    case budget = "upto"
    case avif, webp

    /// Example of the option for messages and pages.
    package var example: String {
        switch self {
        case .quality: "q80"
        case .axis: "axis5_5"
        case .focus: "focus500_333"
        case .rotate: "rotate90"
        case .round: "round16"
        case .blur: "blur3"
        case .sharpen: "sharpen50"
        case .background: "bgffffff"
        case .watermark: "wmlogo_10_10_50_20"
        case .budget: "upto50000"
        case .smart, .enlarge, .still, .trim, .pad, .grey, .circle, .profile, .avif, .webp: rawValue
        }
    }

    /// Value after the option's name, as a grammar for the reference page and in words for error messages; nil if the
    /// option has no value.
    package var value: (grammar: String, words: String)? {
        switch self {
        case .quality: ("1…100", "-q and a number from 1 to 100, as in -q80")
        case .axis: ("0…10 \"_\" 0…10", "two numbers from 0 to 10, as in -axis5_2")
        case .focus:
            (
                "0…1000 \"_\" 0…1000 [ \"_\" 0…1000 \"_\" 0…1000 *4( 4( \"_\" 0…1000 ) ) ]",
                "two numbers from 0 to 1000, as in -focus500_333, or x, y, width and height of at most five regions that lie in the image (x + width and y + height at most 1000)"
            )
        case .rotate: ("90 / 180 / 270", "90, 180 or 270 degrees, as in -rotate90")
        case .round: ("1…1000", "pixels from 1 to 1000, as in -round16")
        case .blur: ("1…100", "pixels from 1 to 100, as in -blur3")
        case .sharpen: ("1…100", "a number from 1 to 100, as in -sharpen50")
        case .background: ("6( 0…9 / a…f )", "a colour of six small hexadecimal digits, as in -bgf0f0f0")
        case .watermark:
            (
                "key [ \"_\" 0…10 \"_\" 0…10 [ \"_\" 1…100 \"_\" 1…100 ] ]",
                "key, axis, opacity and width in hundredths, the last four or two left out: -wmlogo_10_10_50_20"
            )
        case .budget: ("256…99999999", "bytes from 256 to 99999999, as in -upto50000")
        case .smart, .enlarge, .still, .trim, .pad, .grey, .circle, .profile, .avif, .webp: nil
        }
    }

    /// Description on the reference page.
    package var meaning: String {
        switch self {
        case .quality:
            "Quality from 1 to 100. Default: `canonical.defaultQuality`, for AVIF `canonical.defaultAVIFQuality`. PNG and GIF have none. Below 90, JPEG and AVIF halve the chroma resolution, unless the variant has colour edges (coloured text, charts) or at most 16,384 pixels. Variants above 16 million pixels may halve it anyway."
        case .axis:
            "Position of a crop, in tenths of the free space from the left and the top. The nine points (`north`, …) are axes by name."
        case .focus:
            "Centres a crop on a point of the source, in thousandths of its sides, as far as its edges allow. Or centres it on up to five regions (`focus100_200_50_100_600_200_50_100`): it keeps all of them, or else the largest (of equal ones the first) with as many others as fit."
        case .smart:
            "Centres a crop on the point that draws the eye (libvips's attention), found in the whole source. The row has the chosen rectangle."
        case .enlarge: "Enlarges a smaller source."
        case .still:
            "Renders only the first frame of an animated source. Otherwise WebP and GIF keep its frames, delays and loops; other formats always have the first frame only."
        case .trim: "Cuts off edges of the first pixel's colour, before anything is measured."
        case .rotate:
            "Turns the source clockwise by this angle in degrees, after its own orientation. Size and axis apply to the turned image; a focus stays a point of the source."
        case .pad:
            "Only with `x` and two sides: the variant has exactly the size of the spec, with the image in the middle. The border is transparent, or has the colour of `bg`; JPEG has white by default."
        case .grey:
            "Shades of grey: one channel in JPEG, PNG and AVIF, three equal ones in WebP and GIF. Refused together with `profile`."
        case .round:
            "Cuts the corners off by a radius in pixels of the variant, at most half of its shorter side. They are transparent, or have the colour of `bg`; JPEG has white by default. `.auto` then counts the variant as transparent, as with `pad`."
        case .circle: "As `round` by half of the shorter side, so that a square becomes a circle."
        case .blur: "Blurs with a standard deviation of this many pixels of the variant."
        case .sharpen: "Sharpens; the strength is in hundredths."
        case .background: "Colour behind transparent parts of the source; a JPEG has white by default."
        case .watermark:
            "Lays `logo.png` of the folder `render.watermarks` over the variant: key, axis (by default bottom right), opacity (100) and width in hundredths of the variant's (20)."
        case .profile:
            "Keeps the source's RGB or grey profile. Without it, and always for CMYK and animated sources, the variant is sRGB. A profile above 4 MiB is not read, and its image counts as sRGB: the row has `profileIgnored`, and the worker logs it. Refused together with `bg` and `wm`, whose colours are sRGB."
        case .budget:
            "Most bytes of the variant: its quality is lowered, by bisection, until it fits. The row has the quality reached. If that is not enough (PNG and GIF have no quality, and animated variants are written once), the variant fails."
        case .avif, .webp: "Only with `.auto`: this format is accepted."
        }
    }

    /// Effects that change the variant's pixels by a number, 1...100, in the order in which they are applied.
    package static let effects: [SpecOption] = [.sharpen, .blur]

    /// Whether the effect gives another result on pixels that were scaled down before.
    var needsSource: Bool { self == .sharpen }

    /// Whether the option names a format that `auto` may choose. It is refused on other specs.
    var isOfAuto: Bool { self == .avif || self == .webp }

    /// The option at the beginning of a text, and the value after its name; nil if there is none.
    static func spelt(_ text: ArraySlice<UInt8>) -> (option: SpecOption, value: ArraySlice<UInt8>)? {
        for option in allCases where text.starts(with: option.rawValue.utf8) {
            let value = text.dropFirst(option.rawValue.utf8.count)
            // `quality80` is a near miss, not a quality.
            let fits = option == .quality ? value.allSatisfy(Byte.isDigit) : option.value != nil || value.isEmpty
            if fits { return (option, value) }
        }
        return nil
    }

    /// Spelling of the option in a spec, without the dash; nil if the spec does not have it.
    func text(in spec: VariantSpec) -> String? {
        let extras = spec.extras
        func spelt(_ value: Int?) -> String? { value.map { "\(rawValue)\($0)" } }
        func spelt(if isSet: Bool) -> String? { isSet ? rawValue : nil }
        switch self {
        case .quality: return spelt(spec.quality > 0 ? spec.quality : nil)
        case .axis: return spec.axis == .centre ? nil : "\(rawValue)\(spec.axis.x)_\(spec.axis.y)"
        case .focus:
            guard case .regions(let regions) = extras.focus else { return nil }
            let isPoint = regions.count == 1 && regions[0].isPoint
            return rawValue
                + regions.flatMap(\.numbers).prefix(isPoint ? 2 : .max).map(\.description).joined(separator: "_")
        case .smart: return spelt(if: extras.focus == .smart)
        case .enlarge: return spelt(if: spec.enlarge)
        case .still: return spelt(if: extras.isStill)
        case .trim: return spelt(if: extras.isTrimmed)
        case .rotate: return spelt(extras.rotation.degrees)
        case .pad: return spelt(if: extras.isPadded)
        case .grey: return spelt(if: extras.isGrey)
        case .round:
            guard case .round(let radius) = extras.corners else { return nil }
            return spelt(radius)
        case .circle: return spelt(if: extras.corners == .circle)
        case .blur, .sharpen: return spelt(extras.effects[self])
        case .background: return extras.background.map { rawValue + $0.hex }
        case .watermark:
            return extras.watermark.map {
                "\(rawValue)\($0.key)_\($0.axis.x)_\($0.axis.y)_\($0.opacity)_\($0.scale)"
            }
        case .profile: return spelt(if: extras.keepsProfile)
        case .budget: return spelt(extras.byteBudget)
        case .avif: return spelt(if: extras.accepts?.contains(.avif) == true)
        case .webp: return spelt(if: extras.accepts?.contains(.webp) == true)
        }
    }

    /// Reads the value after the name into the options of a spec.
    ///
    /// - Parameter text: the whole option, for error messages.
    func read(_ value: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>, into options: inout SpecOptions) throws(SpecFault)
    {
        var wrong: SpecFault {
            .value(String(decoding: text, as: UTF8.self), meant: self.value?.words ?? "")
        }
        func once(_ isFirst: Bool) throws(SpecFault) { if !isFirst { throw .repeated(rawValue) } }
        func number(in range: ClosedRange<Int>) throws(SpecFault) -> Int {
            guard let number = SpecNumber.whole(value), range.contains(number) else { throw wrong }
            return number
        }
        switch self {
        case .quality:
            guard options.quality == nil else { throw .repeated("quality") }
            guard let number = SpecNumber.whole(value), (1...100).contains(number) else {
                throw .quality(Excerpt.quote(Array(text)))
            }
            options.quality = number
        case .axis:
            guard let axis = CropAxis(text: value) else { throw .axis(Excerpt.quote(Array(text))) }
            try options.keep(axis)
        case .focus:
            let parts = value.split(separator: Byte.underscore, omittingEmptySubsequences: false)
            let numbers = parts.compactMap { SpecNumber.whole($0) }
            let isPoint = numbers.count == 2
            guard numbers.count == parts.count,
                let regions = [KeptRegion](checking: isPoint ? numbers + [0, 0] : numbers, limit: KeptRegion.specLimit)
            else { throw wrong }
            try options.focus(.regions(regions))
        case .smart: try options.focus(.smart)
        case .enlarge:
            try once(!options.enlarge)
            options.enlarge = true
        case .still:
            try once(!options.extras.isStill)
            options.extras.isStill = true
        case .trim:
            try once(!options.extras.isTrimmed)
            options.extras.isTrimmed = true
        case .rotate:
            try once(options.extras.rotation == .upright)
            guard let rotation = SpecNumber.whole(value).flatMap(Orientation.init(degrees:)) else { throw wrong }
            options.extras.rotation = rotation
        case .pad:
            try once(!options.extras.isPadded)
            options.extras.isPadded = true
        case .grey:
            try once(!options.extras.isGrey)
            options.extras.isGrey = true
        case .round, .circle:
            guard options.extras.corners == nil else { throw .repeated("the corners (round or circle)") }
            options.extras.corners = self == .circle ? .circle : .round(try number(in: 1...1000))
        case .blur, .sharpen:
            try once(options.extras.effects[self] == nil)
            options.extras.effects[self] = try number(in: 1...100)
        case .background:
            try once(options.extras.background == nil)
            guard let colour = RGB(hex: value) else { throw wrong }
            options.extras.background = colour
        case .watermark:
            try once(options.extras.watermark == nil)
            guard let watermark = Watermark(text: value) else { throw wrong }
            options.extras.watermark = watermark
        case .profile:
            try once(!options.extras.keepsProfile)
            options.extras.keepsProfile = true
        case .budget:
            try once(options.extras.byteBudget == nil)
            options.extras.byteBudget = try number(in: SpecExtras.budgetRange)
        case .avif, .webp:
            let format: AcceptedFormats = self == .avif ? .avif : .webp
            try once(options.extras.accepts?.contains(format) != true)
            options.extras.accepts = (options.extras.accepts ?? []).union(format)
            options.accepted = rawValue
        }
    }
}
