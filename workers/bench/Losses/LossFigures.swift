internal import Foundation
internal import VariantSpec

/// A format and a quality whose losses are measured.
struct LossFormat: Hashable {
    let format: ImageFormat
    let quality: Int

    /// The lowest quality of each class of donors.
    static let donors = [LossFormat(format: .png, quality: 0)] + all([95, 90, 80])
    /// Other qualities of the same classes, for ratio 1: the same quality twice loses less than two different ones.
    static let between = all([98, 93, 86])
    /// The highest quality of each class of requested variants, and the reference last.
    static let wanted = all([80, 90, 100]) + [LossFormat(format: .png, quality: 0)]

    private static func all(_ qualities: [Int]) -> [LossFormat] {
        [.jpeg, .webp].flatMap { format in qualities.map { LossFormat(format: format, quality: $0) } }
    }

    func spec(_ side: Int) -> VariantSpec { VariantSpec(width: side, height: side, quality: quality, format: format) }

    /// The class of donors that this one belongs to.
    var donorClass: LossFormat {
        LossFormat(
            format: format,
            quality: LossFormat.donors.filter { $0.format == format && $0.quality <= quality }.map(\.quality).max() ?? 0
        )
    }
}

/// Losses of many photographs, by cell.
struct LossFigures {
    private var found: [LossMeasurement.Cell: [Double]] = [:]

    mutating func add(_ losses: [LossMeasurement.Cell: Double]) {
        for (cell, loss) in losses { found[cell, default: []].append(loss) }
    }

    /// For each cell the worst of the means by size and by donor within its class, and never a gain; in tenths, rounded
    /// up.
    var rows: [String] {
        let ratios = Set(LossMeasurement.plan.flatMap(\.ratios)).sorted()
        return ["ratios: [\(ratios.map { String(format: "%g", $0) }.joined(separator: ", "))],"]
            + LossFormat.donors.flatMap { donor in
                LossFormat.wanted.compactMap { wanted -> String? in
                    let losses = ratios.map { ratio -> Double? in
                        found.filter {
                            $0.key.ratio == ratio && $0.key.wanted == wanted && $0.key.donor.donorClass == donor
                        }
                        .map { _, losses in losses.reduce(0, +) / Double(losses.count) }.max()
                    }
                    guard losses.contains(where: { $0 != nil }) else { return nil }
                    let row = losses.map {
                        $0.map { String(format: "%.1f", max(0, ($0 * 10).rounded(.up) / 10)) } ?? "nil"
                    }
                    return
                        "Row(.\(donor.format), \(donor.quality), to: .\(wanted.format), \(wanted.quality), [\(row.joined(separator: ", "))]),"
                }
            }
    }
}
