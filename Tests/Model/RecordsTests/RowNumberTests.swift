import Clocks
import Foundation
import ImageModel
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("Rows: numbers that somebody else wrote", .timeLimit(.minutes(1)))
struct RowNumberTests {
    @Test("No size and no product of sizes traps")
    func sizes() {
        for side in [Int.min, -1, 0, 1, 1 << 31 - 1, 1 << 31, 1 << 32 - 1, .max] {
            for other in [Int.min, -1, 0, 1, 1 << 31 - 1, 1 << 31, 1 << 32 - 1, .max] {
                let size = PixelSize(width: side, height: other)
                #expect((0...1 << 62).contains(size.pixels) && (0...1 << 55).contains(size.times(.max)))
                let isSaid = (1..<1 << 31).contains(side) && (1..<1 << 31).contains(other)
                #expect((PixelSize(checking: side, other) != nil) == isSaid)
                for spec in [
                    "full.png", "16383y1.png", "1y16383-enlarge.png", "16383z16383-enlarge.png", "9y9-focus1000_0.png",
                ] {
                    let output = TestSupport.spec(spec).placement(of: size).output
                    #expect((0...1 << 31).contains(output.width), "\(spec) of \(size)")
                }
            }
        }
        #expect(PixelSize(width: 3, height: 4).times(6) == 72)
    }

    /// Every number of every row, one after the other, at every extreme: read within its bounds, or refused.
    @Test(
        "A changelog's rows",
        arguments: [
            Fixture.variant.newRecord(partition: Fixture.partition),
            Fixture.sourceRow.newRecord(partition: Fixture.partition),
        ])
    func rows(_ record: NewRecord) throws {
        let text = Fixture.text(record.value)
        var refused: Set<String> = []
        var count = 0
        for name in [
            "width", "height", "bytes", "sourceWidth", "sourceHeight", "storedAt", "expires", "fetchedAt", "frames",
            "quality",
        ] {
            guard let range = text.range(of: #""\#(name)":-?[0-9]+"#, options: .regularExpression) else { continue }
            for number in [
                "0", "1", "-1", "2147483647", "2147483648", "4294967295", "9223372036854775807", "-9223372036854775808",
            ] {
                var hostile = record
                hostile.value = Array(text.replacingCharacters(in: range, with: "\"\(name)\":\(number)").utf8)
                count += 1
                do throws(RecordFailure) {
                    switch try ChangelogEntry(Fixture.read(hostile)) {
                    case .change(.variant(let row)):
                        _ = (row.size.pixels, row.spec.placement(of: row.sourceSize))
                        #expect(RowLimits.bytes.contains(row.bytes) && RowLimits.frames.contains(row.frames))
                    case .change(.source(let row)):
                        _ = row.size.pixels
                        #expect(RowLimits.bytes.contains(row.bytes))
                    case let other: Issue.record("\(other)")
                    }
                } catch { refused.insert(name) }
            }
        }
        #expect(count >= 5 * 8)
        #expect(refused.isSuperset(of: ["width", "height", "bytes"]))
    }

    /// Kafka takes any time from a publisher; a job's age decides when it is let before others.
    @Test("The time of a record is bounded", arguments: [Int64.min, -1, 0, 7, 1 << 60, .max])
    func times(time: Int64) {
        let record = Record(
            topic: .jobsSlow, partition: Fixture.partition, offset: 0, timestamp: WallTime(milliseconds: time), key: [], value: nil,
            headers: []
        )
        #expect(record.timestamp.milliseconds == min(max(0, time), 253_402_300_799_999))
    }

    @Test(
        "A rectangle that no picture can show is refused",
        arguments: ["[0,0,1e308,1]", "[-1,0,1,1]", "[0,0,0,1]", "[0,0,1,1e-300]", "[0,3e9,1,1]", "[0,0,-5,1]"])
    func regions(region: String) throws {
        var record = Fixture.variant.newRecord(partition: Fixture.partition)
        let text = Fixture.text(record.value)
        let range = try #require(text.range(of: #""region":\[[^]]*\]"#, options: .regularExpression))
        record.value = Array(text.replacingCharacters(in: range, with: "\"region\":\(region)").utf8)
        #expect(throws: RecordFailure.self) { try ChangelogEntry(Fixture.read(record)) }
    }
}
