/// The options of a spec as far as they were read.
struct SpecOptions {
    private(set) var quality: Int?
    private(set) var axis: CropAxis?
    private(set) var enlarge = false
    var extras = SpecExtras()
    /// The option that says what `auto` may become, as it was written; it means nothing elsewhere.
    private(set) var accepted: String?

    mutating func read(_ text: ArraySlice<UInt8>) throws(SpecFault) {
        if text.first == Byte.q, text.dropFirst().allSatisfy(Byte.isDigit) {
            guard quality == nil else { throw .repeated("quality") }
            guard let number = SpecNumber.whole(text.dropFirst()), (1...100).contains(number) else {
                throw .quality(Excerpt.quote(Array(text)))
            }
            quality = number
            return
        }
        let word = String(decoding: text, as: UTF8.self)
        func isFirst(_ isMissing: Bool, _ name: String) throws(SpecFault) {
            guard isMissing else { throw .repeated(name) }
        }
        switch word {
        case "enlarge":
            try isFirst(!enlarge, word)
            enlarge = true
        case "still":
            try isFirst(!extras.isStill, word)
            extras.isStill = true
        case "trim":
            try isFirst(!extras.isTrimmed, word)
            extras.isTrimmed = true
        case "profile":
            try isFirst(!extras.keepsProfile, word)
            extras.keepsProfile = true
        case "smart": try focus(.smart)
        case "avif", "webp":
            let format: AcceptedFormats = word == "avif" ? .avif : .webp
            try isFirst(extras.accepts?.contains(format) != true, word)
            extras.accepts = (extras.accepts ?? []).union(format)
            accepted = word
        default:
            if let axis = CropAxis.points[word] { return try keep(axis) }
            try readValue(word, text)
        }
    }

    /// A word with a value: `axis5_2`, `blur3`.
    private mutating func readValue(_ word: String, _ text: ArraySlice<UInt8>) throws(SpecFault) {
        func value(after name: String) -> ArraySlice<UInt8>? {
            word.hasPrefix(name) ? text.dropFirst(name.utf8.count) : nil
        }
        func number(_ text: ArraySlice<UInt8>, in range: ClosedRange<Int>, _ meant: String) throws(SpecFault) -> Int {
            guard let number = SpecNumber.whole(text), range.contains(number) else { throw .value(word, meant: meant) }
            return number
        }
        if let rest = value(after: "axis") {
            guard let asked = CropAxis(text: rest) else { throw .axis(Excerpt.quote(Array(text))) }
            try keep(asked)
        } else if let rest = value(after: "focus") {
            let parts = rest.split(separator: Byte.underscore, omittingEmptySubsequences: false)
            guard parts.count == 2, let x = SpecNumber.whole(parts[0]), let y = SpecNumber.whole(parts[1]), x <= 1000,
                y <= 1000
            else { throw .value(word, meant: "two numbers from 0 to 1000, as in -focus500_333") }
            try focus(.point(x: x, y: y))
        } else if let rest = value(after: "blur") {
            guard extras.blur == nil else { throw .repeated("blur") }
            extras.blur = try number(rest, in: SpecExtras.blurRange, "pixels from 1 to 100, as in -blur3")
        } else if let rest = value(after: "sharpen") {
            guard extras.sharpen == nil else { throw .repeated("sharpen") }
            extras.sharpen = try number(rest, in: SpecExtras.sharpenRange, "a number from 1 to 100, as in -sharpen50")
        } else if let rest = value(after: "upto") {
            guard extras.byteBudget == nil else { throw .repeated("upto") }
            extras.byteBudget = try number(
                rest, in: SpecExtras.budgetRange, "bytes from 256 to 99999999, as in -upto50000")
        } else if let rest = value(after: "bg") {
            guard extras.background == nil else { throw .repeated("bg") }
            guard let colour = RGB(hex: rest) else {
                throw .value(word, meant: "a colour of six small hexadecimal digits, as in -bgf0f0f0")
            }
            extras.background = colour
        } else if let rest = value(after: "wm") {
            guard extras.watermark == nil else { throw .repeated("wm") }
            guard let watermark = Watermark(text: rest) else {
                throw .value(
                    word,
                    meant: "key, axis, opacity and width in hundredths, the last four or two left out: -wmlogo_10_10_50_20")
            }
            extras.watermark = watermark
        } else {
            throw .option(Excerpt.quote(Array(text)), meant: nil)
        }
    }

    private mutating func keep(_ asked: CropAxis) throws(SpecFault) {
        guard axis == nil, extras.focus == nil else { throw .repeated("the place of the crop (an axis, a point, a focus or smart)") }
        axis = asked
    }

    private mutating func focus(_ asked: Focus) throws(SpecFault) {
        guard axis == nil, extras.focus == nil else { throw .repeated("the place of the crop (an axis, a point, a focus or smart)") }
        extras.focus = asked
    }
}

extension CropAxis {
    /// Gravity by nine points is an axis by name.
    static let points: [String: CropAxis] = [
        "centre": CropAxis(x: 5, y: 5), "center": CropAxis(x: 5, y: 5), "north": CropAxis(x: 5, y: 0),
        "northeast": CropAxis(x: 10, y: 0), "east": CropAxis(x: 10, y: 5), "southeast": CropAxis(x: 10, y: 10),
        "south": CropAxis(x: 5, y: 10), "southwest": CropAxis(x: 0, y: 10), "west": CropAxis(x: 0, y: 5),
        "northwest": CropAxis(x: 0, y: 0),
    ]
}

extension Watermark {
    /// `logo_10_10_50_20`; opacity and scale, or all four numbers, may be left out.
    init?(text: ArraySlice<UInt8>) {
        let parts = text.split(separator: Byte.underscore, omittingEmptySubsequences: false)
        guard let name = parts.first, Watermark.isKey(name), [1, 3, 5].contains(parts.count) else { return nil }
        let numbers = parts.dropFirst().compactMap { SpecNumber.whole($0) }
        guard numbers.count == parts.count - 1 else { return nil }
        let axis = numbers.count >= 2 ? CropAxis(x: numbers[0], y: numbers[1]) : CropAxis(x: 10, y: 10)
        let (opacity, scale) = numbers.count == 4 ? (numbers[2], numbers[3]) : (100, 20)
        guard axis.x <= 10, axis.y <= 10, (1...100).contains(opacity), (1...100).contains(scale) else { return nil }
        self.init(key: String(decoding: name, as: UTF8.self), axis: axis, opacity: opacity, scale: scale)
    }

    private static func isKey(_ name: ArraySlice<UInt8>) -> Bool {
        (1...32).contains(name.count)
            && name.allSatisfy { Byte.isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
    }
}

extension RGB {
    /// Six small hexadecimal digits.
    package init?(hex: some Collection<UInt8>) {
        let digits = hex.compactMap { byte -> UInt8? in
            switch byte {
            case 0x30...0x39: byte - 0x30
            case 0x61...0x66: byte - 0x61 + 10
            default: nil
            }
        }
        guard hex.count == 6, digits.count == 6 else { return nil }
        self.init(digits[0] << 4 | digits[1], digits[2] << 4 | digits[3], digits[4] << 4 | digits[5])
    }

    package var hex: String {
        let digits = Array("0123456789abcdef")
        return String([red, green, blue].flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
