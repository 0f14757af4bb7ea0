import Partition
import Records
import Testing

@Suite("When a progress row is written", .timeLimit(.minutes(1)))
struct ProgressLedgerTests {
    static let quiet: [Topic: TopicProgress] = [.jobsFast: TopicProgress(next: 10, committed: 10)]
    static let moved: [Topic: TopicProgress] = [.jobsFast: TopicProgress(next: 11, committed: 11)]
    static let ahead: [Topic: TopicProgress] = [.jobsFast: TopicProgress(next: 10, committed: 10, finished: [12])]

    @Test(
        "Once a second while something is finished ahead, once a minute where offsets moved, and when the partition goes",
        arguments: [
            (written: quiet, current: quiet, at: Int64(600_000), isLast: true, isWritten: false),
            (quiet, moved, 1_000, false, false),
            (quiet, moved, 59_999, false, false),
            (quiet, moved, 60_000, false, true),
            (quiet, moved, 1, true, true),
            (quiet, ahead, 999, false, false),
            (quiet, ahead, 1_000, false, true),
            // What is finished without a gap by now is told as soon.
            (ahead, moved, 1_000, false, true),
        ])
    func due(
        written: [Topic: TopicProgress], current: [Topic: TopicProgress], at now: Int64, isLast: Bool, isWritten: Bool
    ) {
        var ledger = ProgressLedger(written, at: 0)
        #expect((ledger.beginWrite(at: now, isLast: isLast) { current } != nil) == isWritten)
    }

    @Test("One row at a time; one that failed is written again a second later")
    func failure() {
        var ledger = ProgressLedger(Self.quiet, at: 0)
        #expect(ledger.beginWrite(at: 1_000) { Self.ahead } == Self.ahead)
        #expect(!ledger.isIdle)
        #expect(ledger.beginWrite(at: 5_000, isLast: true) { Self.moved } == nil)
        ledger.failed(at: 5_000)
        #expect(ledger.beginWrite(at: 5_500) { Self.ahead } == nil)
        #expect(ledger.beginWrite(at: 6_500) { Self.ahead } == Self.ahead)
        ledger.wrote(Self.ahead, at: 6_500)
        #expect(ledger.isIdle && ledger.written == Self.ahead)
    }
}
