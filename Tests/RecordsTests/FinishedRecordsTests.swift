import Records
import Testing

@Suite("What a progress row tells of records that are finished")
struct FinishedRecordsTests {
    /// Finished below 10, and 12, 13 and 20; the group's offset was 8, and the log had a record at 25.
    static let progress = TopicProgress(
        next: 10, committed: 8, finished: [12, 13, 20], anchor: LogAnchor(offset: 7, timestamp: 1),
        last: LogAnchor(offset: 25, timestamp: 2))

    @Test(
        "Of the same log, from its committed offset on",
        arguments: [
            // The committed offset, the log's end, what is known.
            (10, 30, (10, 3)), (8, 30, (10, 3)), (12, 30, (12, 3)), (13, 30, (13, 2)), (21, 30, (21, 0)),
            // An operator has set the offset back.
            (7, 30, nil),
            // Another log, or one that was cut.
            (10, 24, nil), (0, 5, nil),
        ] as [(Int64, Int64, (Int64, Int)?)])
    func finished(committed: Int64, end: Int64, known: (Int64, Int)?) {
        let expected = known.map { FinishedRecords(next: $0.0, ahead: $0.1) }
        #expect(Self.progress.finished(committed: committed, end: end) == expected)
    }
}
