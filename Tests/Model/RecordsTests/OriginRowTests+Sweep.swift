import Clocks
import ImageModel
import Records
import TestSupport
import Testing

extension OriginRowTests {
    @Test("A sweep finds keys whose newest row may go, so many at most, and looks at each record once")
    func sweep() {
        let old = (0..<OriginSweep.limit + 5).map { number in
            var row = row("one", .open, age: 7_200_000)
            row.host = "https://\(number).example"
            return row
        }
        var again = old[7]
        again.at = Self.now
        let all = records(old + [again])
        var sweep = OriginSweep(0..<Int64(all.count))
        for start in stride(from: 0, to: all.count, by: 1_000) {
            let page = Array(all[start...].prefix(1_000))
            sweep.take(page, page.map { OriginRow($0) }) { $0.isForgettable(at: Self.now) }
        }
        #expect(sweep.hasRead && sweep.isFull)
        var keys: Set<[UInt8]> = []
        while !sweep.isEmpty { keys.formUnion(sweep.takeFound(256).map(\.tombstone.key)) }
        #expect(keys.count == OriginSweep.limit - 1 && !keys.contains(again.newRecord().key))
        var empty = OriginSweep(7..<99)
        empty.take([], []) { _ in true }
        #expect(empty.hasRead && empty.next == 99)
    }

    @Test("A sweep ends though workers write more than it reads, and finds no row that was written meanwhile")
    func busy() {
        let old = (0..<20).map { number in
            var row = row("one", .open, age: 7_200_000)
            row.host = "https://\(number).example"
            return row
        }
        var all = records(old)
        var sweep = OriginSweep(0..<Int64(all.count))
        var looks = 0
        while !sweep.hasRead, looks < 100 {
            let page = Array(all.dropFirst(Int(sweep.next)).prefix(4))
            sweep.take(page, page.map { OriginRow($0) }) { _ in true }
            // Five rows for each four that are read: of keys that it has found, and of keys that it finds later.
            for number in [looks % 20, 19, 18, 17, 16] {
                sweep.keep(all[number].key)
                all.append(all[number])
            }
            looks += 1
        }
        #expect(looks == 5)
        let found = Set(sweep.takeFound(100).map(\.tombstone.key))
        #expect(found == Set(all[5..<16].map(\.key)))
    }

    @Test("A row that is written while the sweep deletes is not deleted, though its key was found before")
    func kept() {
        let slots = (0..<2).map { OriginRow(host: "https://s.example", slot: $0, at: PartitionID(7), at: 0) }
        let all = records(slots + [row("one", .open, age: 7_200_000)])
        var sweep = OriginSweep(0..<3)
        sweep.take(all, all.map { OriginRow($0) }) { _ in true }
        sweep.keep(all[0].key)
        #expect(Set(sweep.takeFound(9).map(\.tombstone.key)) == [all[1].key, all[2].key] && sweep.isEmpty)
    }
}
