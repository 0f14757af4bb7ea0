import Clocks
import Partition
import Positions
import Records
import TestSupport
import Testing

@Suite("What progress rows tell of topics")
struct ReportedProgressTests {
    private static let inherited = TopicProgress(
        next: 700, committed: 700, fingerprint: RecordFingerprint(offset: 699, timestamp: 9))

    private static func progress(_ next: Int64) -> TopicProgress {
        TopicProgress(
            next: next, committed: next,
            fingerprint: RecordFingerprint(offset: next - 1, timestamp: WallTime(milliseconds: next)))
    }

    @Test(
        "A topic of which nothing can be told now keeps what this owner told last, and what earlier ones left before that"
    )
    func keeps() {
        var told = ReportedProgress()
        for inherited in [Self.inherited, nil] {
            #expect(told.tell(of: .jobsFast, after: inherited, isWhole: true, nil) == inherited)
        }
        told.begin(.jobsFast, .none)
        #expect(told.tell(of: .jobsFast, after: nil, isWhole: true, Self.progress(10)) == Self.progress(10))
        // It was recreated: no offset in the new log is durable yet, and the next owner must see that it is another one.
        told.begin(.jobsFast, .anotherLog(.shorter(end: 3, read: 10)))
        #expect(told.tell(of: .jobsFast, after: nil, isWhole: false, nil) == Self.progress(10))
        #expect(told.tell(of: .jobsSlow, after: Self.inherited, isWhole: false, nil) == Self.inherited)
        #expect(told.tell(of: .jobsFast, after: nil, isWhole: false, Self.progress(2)) == Self.progress(2))
    }

    @Test("A topic that was set back is told of only where no answer can be found again: the next owner sees that, too")
    func setBack() {
        var told = ReportedProgress()
        told.begin(.jobsFast, .reset(from: 700))
        let now = Self.progress(510)
        var ahead = Self.inherited
        ahead.finished = [730]
        #expect(told.tell(of: .jobsFast, after: ahead, isWhole: false, now) == Self.inherited)
        #expect(told.tell(of: .jobsFast, after: Self.inherited, isWhole: false, now) == Self.inherited)
        #expect(told.tell(of: .jobsFast, after: Self.inherited, isWhole: true, now) == now)
        #expect(told.tell(of: .jobsFast, after: Self.inherited, isWhole: false, now) == Self.inherited)
        told.wrote([.jobsFast: Self.inherited])
        #expect(told.tell(of: .jobsFast, after: Self.inherited, isWhole: false, now) == Self.inherited)
        // Once that stands in the log, answers that are found again are told of before.
        told.wrote([.jobsFast: now])
        #expect(told.tell(of: .jobsFast, after: Self.inherited, isWhole: false, nil) == now)
    }
}
