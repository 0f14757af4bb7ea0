import Records
import TestSupport
import Testing

@Suite("What a progress row tells of records that are finished")
struct FinishedRecordsTests {
    /// Finished below 10, and 12, 13 and 20; the group's offset was 8, and the log had a record at 25.
    static let progress = TopicProgress(
        next: 10, committed: 8, finished: [12, 13, 20], fingerprint: RecordFingerprint(offset: 7, timestamp: 1),
        last: RecordFingerprint(offset: 25, timestamp: 2))

    @Test(
        "Of the same log, from its committed offset on",
        arguments: [
            // The log's bounds, the committed offset, what is known.
            (0..<30, 10, (10, 3)), (0..<30, 8, (10, 3)), (0..<30, 12, (12, 3)), (0..<30, 13, (13, 2)),
            (0..<30, 21, (21, 0)), (7..<26, 10, (10, 3)),
            // The group's offset has expired.
            (0..<30, nil, (10, 3)),
            // An operator has set the offset back.
            (0..<30, 7, nil),
            // Another log, or one that was cut; its fingerprint is gone.
            (0..<25, 10, nil), (0..<5, 0, nil), (8..<30, 10, nil), (40..<90, 10, nil),
        ] as [(Range<Int64>, Int64?, (Int64, Int)?)])
    func finished(bounds: Range<Int64>, committed: Int64?, known: (Int64, Int)?) {
        let expected = known.map { FinishedRecords(next: $0.0, ahead: $0.1) }
        #expect(Self.progress.finished(in: bounds, committed: committed) == expected)
        var bare = Self.progress
        bare.fingerprint = nil
        #expect(bare.finished(in: bounds, committed: committed) == nil)
    }
}
