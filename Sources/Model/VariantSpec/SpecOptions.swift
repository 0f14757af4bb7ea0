/// Options of a spec that were read so far.
struct SpecOptions {
    var quality: Int?
    var axis: CropAxis?
    var enlarge = false
    var extras = SpecExtras()
    /// Option that names a format for `auto`, as written; it is refused on other specs.
    var accepted: String?

    mutating func read(_ text: ArraySlice<UInt8>) throws(SpecFault) {
        if let (option, value) = SpecOption.spelt(text) { return try option.read(value, text, into: &self) }
        guard let axis = CropAxis.points[String(decoding: text, as: UTF8.self)] else {
            throw .option(Excerpt.quote(Array(text)), meant: nil)
        }
        try keep(axis)
    }

    mutating func keep(_ asked: CropAxis) throws(SpecFault) {
        guard axis == nil, extras.focus == nil else { throw .repeated("the place of the crop (an axis, a point, a focus or smart)") }
        axis = asked
    }

    mutating func focus(_ asked: Focus) throws(SpecFault) {
        guard axis == nil, extras.focus == nil else { throw .repeated("the place of the crop (an axis, a point, a focus or smart)") }
        extras.focus = asked
    }
}

extension CropAxis {
    /// Axes of the nine named points.
    static let points: [String: CropAxis] = [
        "centre": CropAxis(x: 5, y: 5), "center": CropAxis(x: 5, y: 5), "north": CropAxis(x: 5, y: 0),
        "northeast": CropAxis(x: 10, y: 0), "east": CropAxis(x: 10, y: 5), "southeast": CropAxis(x: 10, y: 10),
        "south": CropAxis(x: 5, y: 10), "southwest": CropAxis(x: 0, y: 10), "west": CropAxis(x: 0, y: 5),
        "northwest": CropAxis(x: 0, y: 0),
    ]
}

extension Watermark {
    /// Parses `logo_10_10_50_20`; opacity and scale, or all four numbers, may be left out.
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
    /// Parses six lower-case hexadecimal digits.
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
