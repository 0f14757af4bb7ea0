import Clocks
import Ports
import TestSupport
import Testing

@Suite("An index is carried on only from where the changelog still holds all that it lacks")
struct IndexCheckpointTests {
    @Test(arguments: [
        (position: 10, days: 0, isSound: true), (position: 50, days: 0, isSound: true),
        (position: 100, days: 0, isSound: true),
        // Below the changelog's start: compaction has forgotten what came between.
        (position: 9, days: 0, isSound: false),
        // Above its end: another changelog of the same name.
        (position: 101, days: 0, isSound: false),
        // Tombstones that it lacks may be no more, unless it lacks nothing.
        (position: 99, days: 5, isSound: true), (position: 99, days: 7, isSound: false),
        (position: 100, days: 70, isSound: true),
        // Written by a clock that was ahead: how long ago, nothing tells.
        (position: 99, days: -6, isSound: true), (position: 99, days: -7, isSound: false),
        (position: 100, days: -70, isSound: true),
    ] as [(position: Int64, days: Int64, isSound: Bool)])
    func flaw(position: Int64, days: Int64, isSound: Bool) {
        let checkpoint = IndexCheckpoint(position: position, epoch: 1, isOpened: true, at: 1_000)
        let flaw = checkpoint.flaw(
            in: 10..<100, tombstonesKept: .days(6), at: WallTime(milliseconds: 1_000) + .days(days))
        #expect((flaw == nil) == isSound, "\(String(describing: flaw))")
        // Where tombstones stay for as long as they are needed, age does not matter.
        #expect((checkpoint.flaw(in: 10..<100, tombstonesKept: nil, at: .distantFuture) == nil) == (10...100).contains(position))
    }
}
