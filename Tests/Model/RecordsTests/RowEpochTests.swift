import Records
import TestSupport
import Testing

@Suite("The epoch on a row")
struct RowEpochTests {
    private func record(_ headers: RecordHeaders) -> Record {
        Record(
            topic: .variants, partition: PartitionID(0), offset: 0, timestamp: 0, key: [], value: nil, headers: headers)
    }

    @Test("Comes back as it was announced", arguments: [0, 7, 1 << 53, 1 << 62] as [Int64])
    func roundTrip(epoch: Int64) {
        let row = NewRecord(topic: .variants, partition: PartitionID(0), key: [], value: nil, headers: [RecordHeader("a", "b")])
        let announced = row.announced(in: epoch)
        #expect(Array(announced.headers).count == 2)
        #expect(record(announced.headers).epoch == epoch)
        #expect(record(row.headers).epoch == nil)
    }

    @Test("Text of another form gives no number", arguments: ["", "-1", "1x", "9223372036854775807", "9223372036854775808", "99999999999999999999"])
    func none(text: String) { #expect(record([RecordHeader("mz_epoch", text)]).epoch == nil) }
}
