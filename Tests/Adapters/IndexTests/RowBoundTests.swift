import Canonical
import Clocks
import HTTPCache
import ImageModel
import TestSupport
import Testing
import VariantSpec

@testable import Index

@Suite("Index: a row whose check word is right, with numbers that no row has", .timeLimit(.minutes(1)))
struct RowBoundTests {
    /// Whoever can write an index file can make its check words too.
    @Test("Every number at every extreme is damage, or within its bounds")
    func extremes() throws {
        let changes: [(inout VariantRow, Int) -> Void] = [
            { $0.bytes = $1 }, { $0.frames = $1 }, { $0.quality = $1 },
            { $0.spec = VariantSpec(width: $1, height: 7, format: .png) },
            { $0.spec = VariantSpec(width: 7, height: $1, quality: 1, format: .png) },
            { $0.spec = VariantSpec(width: 7, height: 7, quality: $1, format: .jpeg) },
            { $0.spec = VariantSpec(width: 7, height: 7, mode: .crop, format: .jpeg, axis: CropAxis(x: $1, y: 0)) },
            { $0.facts = SourceFacts(format: .gif, frames: $1) },
            { $0.facts = SourceFacts(format: .gif, orientation: $1) },
            { $0.region = Region(x: Double($1), y: 0, width: 1, height: 1) },
            { $0.region = Region(x: 0, y: 0, width: 1, height: Double($1)) },
        ]
        let rows = Rows(1)
        for number in [Int.min, -1, 1 << 51, .max] {
            for (place, change) in changes.enumerated() {
                var row = rows.variants[0]
                change(&row, number)
                guard case .damaged = Self.decoded([row], nil, rows.key) else {
                    Issue.record("number \(place) may be \(number)")
                    continue
                }
            }
            var source = rows.source
            source.bytes = number
            guard case .damaged = Self.decoded([], source, rows.key) else {
                Issue.record("a source may have \(number) bytes")
                continue
            }
        }
        guard case .snapshot(let snapshot) = Self.decoded(rows.variants, rows.source, rows.key) else {
            Issue.record("good rows are damage")
            return
        }
        #expect(snapshot.variants == rows.variants)
    }

    /// Sizes can't be made so large in memory: their bytes are replaced.
    @Test("Sides of 2⁶³ - 1 are damage")
    func sides() {
        for sides: (Int, Int) in [(.max, .max), (1 << 31, 1), (1, 1 << 32), (0, 1), (-1, 1)] {
            var bytes = RowBytes(capacity: 64)
            bytes.put(sides.0)
            bytes.put(sides.1)
            bytes.bytes.withUnsafeBytes {
                var parts = RowParts($0)
                _ = parts.size().pixels
                #expect(!parts.isWhole, "\(sides)")
            }
        }
    }

    @Test("A file of an earlier program has the expiry of a policy in seconds, and so has one of this program")
    func expiry() {
        let policy = CachePolicy(expires: 2_000)
        var bytes = RowBytes(capacity: 64)
        bytes.put(policy)
        #expect(bytes.bytes == [0, 1, 2, 0, 0, 0, 0])
        bytes.bytes.withUnsafeBytes { row in
            var parts = RowParts(row)
            #expect(parts.policy() == policy && parts.isWhole)
        }
    }

    @Test("A file of an earlier program has a point in the place of regions")
    func point() {
        let rows = Rows(1)
        var snapshot = SourceSnapshot(source: rows.source)
        snapshot.source?.policy = CachePolicy(expires: 2_000)
        snapshot.source?.regions = []
        snapshot.source?.isFocusKnown = true
        var content = Array(RowCoding.encode(snapshot, of: rows.key).dropLast(8))
        // Before the count of variants.
        content.insert(contentsOf: [0xe8, 7, 20], at: content.count - 1)
        var seal = RowBytes(capacity: 8)
        seal.put(word: content.withUnsafeBytes { RowCoding.checkWord($0, .focused) })
        snapshot.source?.regions = [KeptRegion(x: 1_000, y: 20)]
        guard case .snapshot(let found) = (content + seal.bytes).withUnsafeBytes({ RowCoding.decode($0, of: rows.key) })
        else {
            Issue.record("it is damage")
            return
        }
        #expect(found == snapshot)
    }

    private static func decoded(_ variants: [VariantRow], _ source: SourceRow?, _ key: SourceKey) -> RowCoding.Decoded {
        var snapshot = SourceSnapshot()
        (snapshot.variants, snapshot.source) = (variants, source)
        return RowCoding.encode(snapshot, of: key).withUnsafeBytes { RowCoding.decode($0, of: key) }
    }
}
