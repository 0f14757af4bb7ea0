import Canonical
import Clocks
import Digest
import ImageModel
import Images
import Planning
import TestSupport
import VariantSpec

/// Rows as a worker would have stored them, at time 0 and fresh until 1,000.
enum Example {
    static let source = SourceKey(SHA256.digest(of: Array("a source".utf8)))
    static let version = SourceVersion(word: 1)

    static func row(
        _ text: String, of size: (Int, Int) = (4000, 3000), version: SourceVersion = version,
        derivedFrom: Provenance = .origin, hasAlpha: Bool = false, storedAt: WallTime = 0, expires: WallTime = 1000
    ) -> VariantRow {
        let (spec, sourceSize) = (spec(text), PixelSize(width: size.0, height: size.1))
        let placement = spec.placement(of: sourceSize)
        return VariantRow(
            source: source, spec: spec, version: version, size: placement.output, bytes: 1,
            digest: SHA256.digest(of: Array(text.utf8)), location: "\(version)/\(text)", derivedFrom: derivedFrom,
            sourceSize: sourceSize, region: placement.region, hasAlpha: hasAlpha, storedAt: storedAt, expires: expires)
    }

    static func sourceRow(
        of size: (Int, Int) = (4000, 3000), version: SourceVersion = version, hasAlpha: Bool = false,
        original: String? = nil, expires: WallTime = 1000, fetchedAt: WallTime = 0
    ) -> SourceRow {
        SourceRow(
            source: source, url: "http://origin/a.jpg", version: version,
            size: PixelSize(width: size.0, height: size.1), format: .jpeg, bytes: 1,
            digest: SHA256.digest(of: []), hasAlpha: hasAlpha, original: original, fetchedAt: fetchedAt,
            expires: expires)
    }

    static func snapshot(_ rows: [VariantRow], source: SourceRow? = sourceRow()) -> SourceSnapshot {
        SourceSnapshot(source: source, variants: rows)
    }
}

extension ReuseRules {
    /// A table of round figures, so that the rules are tested apart from what was measured.
    static func example(isEnabled: Bool = true, lossBudget: Double = 4, allowsStale: Bool = false) -> ReuseRules {
        func rows(_ format: ImageFormat, _ quality: Int, _ losses: [Double?]) -> [LossTable.Row] {
            [.jpeg, .webp].map { LossTable.Row(format, quality, to: $0, 100, losses) }
        }
        let table = LossTable(
            ratios: [1, 1.01, 1.5, 3, 40],
            rows: rows(.png, 0, [0, 1, 2, 1, 1]) + rows(.jpeg, 95, [1, 1, 2, 1, 1]) + rows(.jpeg, 90, [2, 2, 3, 2, 2])
                + rows(.jpeg, 80, [3, 3, 4, 3, 3]) + rows(.webp, 80, [9, 9, 9, 5, 3]))
        return ReuseRules(
            isEnabled: isEnabled, lossBudget: lossBudget, allowsStale: allowsStale,
            losses: LossTables(photographs: table, drawings: table))
    }
}

extension Plan {
    init(_ wanted: [String], _ snapshot: SourceSnapshot, now: WallTime = 10, rules: ReuseRules = .example()) {
        self.init(wanted.map { spec($0) }, snapshot: snapshot, now: now, rules: rules)
    }

    /// Which of the wanted is where, for a table to compare with.
    var summary: [String] {
        unchanged.map { "\($0.spec) unchanged" } + reuses.flatMap(\.summary) + toFetch.map { "\($0) fetched" }
    }
}

extension RenderBatch {
    var summary: [String] {
        let from =
            switch renderSource.input {
            case .fetched: "fetched"
            case .original: "original"
            case .donor(let row): "\(row.spec)"
            }
        return orders.map { "\($0.spec) from \(from)" }
    }
}
