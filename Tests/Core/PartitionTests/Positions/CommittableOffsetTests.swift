import Partition
import Positions
import Testing

@Suite("CommittableOffset: every record below it is finished", .timeLimit(.minutes(1)))
struct CommittableOffsetTests {
    @Test("It moves only over what is finished without a gap")
    func contiguous() {
        var mark = CommittableOffset()
        for offset: Int64 in [0, 1, 2] {
            let moved = mark.receive(offset)
            #expect(moved)
        }
        #expect(mark.value == 0)
        do {
            let moved = mark.finish(1)
            #expect(!moved)
        }
        #expect(mark.value == 0 && mark.isHeldBack)
        do {
            let moved = mark.finish(0)
            #expect(moved)
        }
        #expect(mark.value == 2 && !mark.isHeldBack)
        do {
            let moved = mark.finish(2)
            #expect(moved)
        }
        #expect(mark.value == 3 && mark.unfinished == 0)
    }

    @Test("Offsets that never came count as done")
    func gaps() {
        var mark = CommittableOffset()
        for offset: Int64 in [5, 9, 40] { _ = mark.receive(offset) }
        _ = mark.finish(5)
        #expect(mark.value == 9)
        _ = mark.finish(9)
        #expect(mark.value == 40)
        _ = mark.finish(40)
        #expect(mark.value == 41)
    }

    @Test("What was finished ahead of it stays finished when it is read again, by another owner, too")
    func comesBack() {
        var mark = CommittableOffset()
        for offset: Int64 in 4...9 { _ = mark.receive(offset) }
        for offset: Int64 in [4, 6, 7, 9] { _ = mark.finish(offset) }
        #expect(mark.value == 5 && mark.finishedAhead == 3 && mark.finishedOffsets == [6, 7, 9])
        // It went again before anything was read.
        let between = CommittableOffset(from: 5, finished: mark.finishedOffsets)
        #expect(between.value == 5 && between.unfinished == 0 && between.finishedOffsets == [6, 7, 9])
        var back = CommittableOffset(from: 5, finished: between.finishedOffsets)
        let isNew = (5...11).map { back.receive(Int64($0)) }
        #expect(isNew == [true, false, false, true, false, true, true])
        #expect(back.value == 5 && back.unfinished == 4 && back.finishedAhead == 3)
        do {
            let moved = back.finish(5)
            #expect(moved)
        }
        #expect(back.value == 8 && back.finishedOffsets == [9])
    }

    @Test("A gap at the log's end is passed once all before it is finished, and so is what was known of offsets in it")
    func passes() {
        var offsets = CommittableOffset(from: 10, finished: [12])
        _ = offsets.receive(10)
        let early = offsets.pass(to: 14)
        #expect(!early && offsets.value == 10)
        _ = offsets.finish(10)
        let passed = offsets.pass(to: 14)
        #expect(passed && offsets.value == 14 && offsets.finishedOffsets == [])
        let (again, back) = (offsets.pass(to: 14), offsets.pass(to: 13))
        #expect(!again && !back && offsets.value == 14)
        let (old, new) = (offsets.receive(13), offsets.receive(14))
        #expect(!old && new)
        var unknown = CommittableOffset()
        let isPassed = unknown.pass(to: 5)
        #expect(!isPassed && unknown.value == nil)
    }

    @Test("A record that comes again is not received again, and finishing twice changes nothing")
    func repeats() {
        var mark = CommittableOffset()
        _ = mark.receive(3)
        do {
            let moved = mark.receive(3)
            #expect(!moved)
        }
        do {
            let moved = mark.receive(2)
            #expect(!moved)
        }
        do {
            let moved = mark.finish(3)
            #expect(moved)
        }
        do {
            let moved = mark.finish(3)
            #expect(!moved)
        }
        #expect(mark.unfinished == 0)
    }

    @Test("Against a plain set, over 20,000 random steps")
    func model() {
        var random = SystemRandomNumberGenerator()
        let seed = random.next()
        var numbers = Numbers(state: seed)
        var mark = CommittableOffset()
        var open: [Int64] = []
        var next: Int64 = 0
        for _ in 0..<20_000 {
            if open.isEmpty || Bool.random(using: &numbers) {
                next += Int64.random(in: 0...3, using: &numbers)
                _ = mark.receive(next)
                open.append(next)
                next += 1
            } else {
                let place = Int.random(in: 0..<min(open.count, 40), using: &numbers)
                _ = mark.finish(open.remove(at: place))
            }
            #expect(mark.value == open.min() ?? next, "seed \(seed)")
            #expect(mark.unfinished == open.count, "seed \(seed)")
        }
    }

    @Test("Its span is what came since the oldest unfinished record, however much of that is finished")
    func span() {
        var committable = CommittableOffset()
        for offset in 0..<1_000 as Range<Int64> { _ = committable.receive(offset * 2) }
        for offset in 1..<1_000 as Range<Int64> { _ = committable.finish(offset * 2) }
        #expect(committable.span == 1_000 && committable.unfinished == 1)
        _ = committable.finish(0)
        #expect(committable.span == 0)
    }
}

/// A seeded generator, so that a failure can be run again.
struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}
