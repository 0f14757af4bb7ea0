/// Whole numbers with a unit: `32MiB`, `250ms`.
package enum Units {
    /// Units, largest first; the last has the factor 1.
    package typealias Table = [(suffix: String, factor: Int)]

    package static let bytes: Table = [
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]
    package static let time: Table = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Parses digits with a unit of the table; nil for other text. A bare number is valid only if the table's smallest
    /// unit is plain (0).
    package static func number(_ text: String, _ units: Table) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let suffix = text.dropFirst(digits.count).drop { $0 == " " }
        guard let number = Int(digits) else { return nil }
        if suffix.isEmpty && number == 0 { return 0 }
        guard let unit = units.first(where: { $0.suffix == suffix }) else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit.factor)
        return overflow ? nil : product
    }

    /// The error in the unit of a text that `number` refuses; nil if the text does not begin with a number.
    package static func flaw(of text: String, _ units: Table) -> String? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let suffix = text.dropFirst(digits.count).drop { $0 == " " }
        guard !digits.isEmpty, !units.contains(where: { $0.suffix == suffix }) else { return nil }
        return suffix.isEmpty ? "which has no unit" : "whose unit is not \(units.map(\.suffix).formattedAsChoice)"
    }

    /// The number in the largest unit that divides it.
    package static func text(_ number: Int, _ units: Table) -> String {
        let smallest = units[units.count - 1]
        let unit = number == 0 ? smallest : units.first { number % $0.factor == 0 } ?? smallest
        return "\(number / unit.factor)\(unit.suffix)"
    }
}
