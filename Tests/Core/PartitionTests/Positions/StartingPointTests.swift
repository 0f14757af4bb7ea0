import Clocks
import Partition
import Positions
import Records
import TestSupport
import Testing

@Suite("Where an owner begins to read a topic", .timeLimit(.minutes(1)))
struct StartingPointTests {
    static let fingerprint = RecordFingerprint(offset: 8, timestamp: 800)

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var progress: TopicProgress?
        var committed: Int64?
        var bounds: Range<Int64> = 0..<50
        /// Of the record that the log has at the fingerprint's offset.
        var fingerprinted: WallTime? = 800
        /// Answered between the row and the group's offset.
        var completedBelow: [Int64] = []
        var proof: LogBreak?
        let position: Int64
        var finished: [Int64] = []
        var finding = StartingPoint.Finding.none
    }

    static let row = TopicProgress(next: 10, committed: 9, finished: [12, 13, 20], fingerprint: fingerprint)

    static let cases: [Case] = [
        Case("nothing is known: from the beginning", bounds: 3..<50, position: 3),
        Case("a new, empty topic", bounds: 0..<0, fingerprinted: nil, position: 0),
        Case("only the group's offset is known", committed: 7, position: 7),
        Case(
            "the group's offset expired: the row counts", row, position: 10, finished: [12, 13, 20],
            finding: .forgotten(from: 9)),
        Case("no offset, and no anchor to know the log by", TopicProgress(next: 10), position: 0),
        Case(
            "the last commit did not come through: the row counts", row, committed: 9, position: 10,
            finished: [12, 13, 20]),
        Case(
            "the group is further: what is finished above it stays so", row, committed: 13, position: 13,
            finished: [13, 20], finding: .skip(2)),
        Case(
            "its owner was killed after it had answered them: nobody set the offset forward", row, committed: 14,
            completedBelow: [10, 11, 12], position: 14, finished: [20]),
        Case(
            "the same where its row tells of nothing yet", TopicProgress(next: 0, committed: 0), committed: 3,
            completedBelow: [0, 1, 2], position: 3),
        Case(
            "some of them have no answer: whether somebody set it cannot be told", row, committed: 16,
            completedBelow: [10, 14], position: 16, finished: [20], finding: .skip(2)),
        Case(
            "retention removed what was read, all of it, and what came then was passed over",
            TopicProgress(next: 10, committed: 10, fingerprint: fingerprint), committed: 50, bounds: 10..<50,
            fingerprinted: nil,
            position: 50, finding: .skip(40)),
        Case(
            "retention removed unread records, and a killed owner did the others", TopicProgress(next: 0, committed: 0),
            committed: 24, bounds: 20..<24, fingerprinted: nil, completedBelow: [20, 21, 22, 23], position: 24),
        Case("an operator set the offset back", row, committed: 4, position: 4, finding: .reset(from: 9)),
        Case("an operator set the offset to the latest", row, committed: 50, position: 50, finding: .skip(37)),
        Case(
            "the same before anything was read", TopicProgress(next: 0, committed: 0), committed: 50, position: 50,
            finding: .skip(50)),
        Case(
            "nothing was set", TopicProgress(next: 10, committed: 10, fingerprint: fingerprint), committed: 10,
            position: 10),
        Case(
            "an operator set the offset below what is left", row, committed: 2, bounds: 6..<50, position: 6,
            finding: .expired(4)),
        Case(
            "retention removed what was not finished, and the anchor with it", row, committed: 10, bounds: 14..<50,
            fingerprinted: nil, position: 14, finding: .expired(2)),
        Case(
            "retention removed the anchor, and the row is further than the group: it may be another cluster's", row,
            committed: 9, bounds: 9..<50, fingerprinted: nil, position: 9),
        Case(
            "another cluster's row, longer than retention reaches back here", row, bounds: 9..<50, fingerprinted: nil,
            position: 9),
        Case(
            "a row without an anchor, further than the group's offset", TopicProgress(next: 10, finished: [12]),
            committed: 7, position: 7),
        Case(
            "retention removed only what was finished", row, committed: 21, bounds: 21..<50, fingerprinted: nil,
            position: 21
        ),
        Case(
            "the topic was recreated, and is empty", row, committed: nil, bounds: 0..<0, fingerprinted: nil,
            position: 0,
            finding: .anotherLog(.shorter(end: 0, read: 21))),
        Case(
            "the topic was recreated, and is shorter", row, committed: 10, bounds: 0..<9, position: 0,
            finding: .anotherLog(.shorter(end: 9, read: 21))),
        Case(
            "the topic was truncated below what was finished ahead", row, committed: 10, bounds: 0..<20, position: 0,
            finding: .anotherLog(.shorter(end: 20, read: 21))),
        Case(
            "the topic was recreated, and is longer by now", row, committed: 10, fingerprinted: 9_000, position: 0,
            finding: .anotherLog(.otherRecord(at: 8))),
        Case(
            "a gap stands where the anchor was", row, committed: 10, fingerprinted: nil, position: 0,
            finding: .anotherLog(.otherRecord(at: 8))),
        Case(
            "no row, and the log is shorter than the group's offset", committed: 60, position: 0,
            finding: .anotherLog(.shorter(end: 50, read: 60))),
        Case(
            "reading itself showed it", row, committed: 10, bounds: 5..<50, proof: .wentBack(from: 30, to: 5),
            position: 5,
            finding: .anotherLog(.wentBack(from: 30, to: 5))),
    ]

    @Test("By what earlier owners left, the group's offset and the log", arguments: cases)
    func rule(example: Case) {
        let start = StartingPoint(
            after: example.progress, committed: example.committed, bounds: example.bounds,
            fingerprinted: example.fingerprinted,
            completedBelow: example.completedBelow.reduce(into: OffsetSet()) { $0.insert($1) }, proof: example.proof)
        #expect(start.position == example.position)
        #expect(start.finished == example.finished)
        #expect(start.finding == example.finding)
        // A fingerprint of another log would find it another one again at every start.
        if case .anotherLog = start.finding {
            #expect(start.fingerprint == nil)
        } else {
            #expect(start.fingerprint == example.progress?.fingerprint)
        }
    }
}

extension StartingPointTests.Case {
    init(
        _ description: String, _ progress: TopicProgress? = nil, committed: Int64? = nil, bounds: Range<Int64> = 0..<50,
        fingerprinted: WallTime? = 800, completedBelow: [Int64] = [], proof: LogBreak? = nil,
        position: Int64, finished: [Int64] = [], finding: StartingPoint.Finding = .none
    ) {
        self.init(
            testDescription: description, progress: progress, committed: committed, bounds: bounds,
            fingerprinted: fingerprinted,
            completedBelow: completedBelow, proof: proof, position: position, finished: finished,
            finding: finding)
    }
}
