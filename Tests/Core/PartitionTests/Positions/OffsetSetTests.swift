import Partition
import Positions
import Testing

@Suite("A set of offsets", .timeLimit(.minutes(1)))
struct OffsetSetTests {
    @Test(
        "Holds what was put in, once, and counts what is not below an offset",
        arguments: [0, 64, 1 << 40, .max - 200] as [Int64])
    func counts(base: Int64) {
        var offsets = OffsetSet()
        let put = [0, 1, 63, 64, 130].map { base + $0 }
        for offset in put + put { offsets.insert(offset) }
        for offset in base..<base + 140 { #expect(offsets.contains(offset) == put.contains(offset)) }
        for start in base..<base + 140 { #expect(offsets.count(from: start) == put.count { $0 >= start }) }
        #expect(offsets.count(from: 0) == 5)
    }
}
