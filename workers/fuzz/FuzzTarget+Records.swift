internal import Canonical
internal import Clocks
internal import ImageModel
internal import Records
internal import VariantSpec

/// Records by their first byte: their topic, and their damaged part.
extension FuzzTarget {
    private static let source = SourceKey(hex: String(repeating: "0123456789abcdef", count: 4))
    private static let intake = Intake(rules: CanonicalRules())
    private static let keys = JobKeys(["a": Array("secret".utf8)], signing: "a")

    static func record(_ bytes: [UInt8]) {
        guard let source, let form = bytes.first, case let rest = Array(bytes.dropFirst()) else { return }
        let topics = Topic.allCases
        func record(_ topic: Topic, _ key: RecordKey, headers: RecordHeaders = []) -> Record {
            Record(
                topic: topic, partition: PartitionID(0), offset: 1, timestamp: .epoch, key: key.bytes, value: rest,
                headers: headers)
        }
        let spec = VariantSpec(width: 640, height: 480, format: .webp)
        switch form & 15 {
        case 0:
            let record = record(.jobsFast, .job(source))
            _ = try? intake.job(from: record)
            _ = (intake.id(ofRefused: record), intake.url(ofRefused: record))
            _ = try? intake.job(line: rest, id: "id", lane: .slow)
        case 1: row(record(.variants, .variant(source, spec)))
        case 2: row(record(.variants, .source(source)))
        case 3: row(record(.variants, .epoch(PartitionID(0))))
        case 4: row(record(.variants, .progress(PartitionID(0))))
        case 5: _ = try? OutcomeReport(record(.outcomes, .job(source)))
        case 6:
            if let key = RecordKey(rest) { precondition(key.bytes == rest) }
            row(
                Record(
                    topic: .variants, partition: PartitionID(0), offset: 1, timestamp: .distantFuture, key: rest,
                    value: nil,
                    headers: []))
        case 7: _ = OriginRow(record(.origins, .job(source)))
        case 8:
            let header = RecordHeader("mz_change", rest)
            let job = Job(
                id: SourceChange.id(Job.changePrefix, telling: header), url: "http://a.example/b.jpg", source: source,
                variants: [spec], lane: .slow)
            guard let change = SourceChange(of: job, in: record(.retry1m, .job(source), headers: [header])) else {
                return
            }
            let variants = change.variants(by: [])
            _ = (change.headers, change.newRecords(variants, partition: PartitionID(0), traceparent: nil))
        default:
            // Headers, and a truncated body.
            guard let headers = rest.withUnsafeBytes({ RecordHeaders(packed: $0) }) else { return }
            let topic = topics[Int(form >> 4) % topics.count]
            let record = Record(
                topic: topic, partition: PartitionID(0), offset: 1, timestamp: .epoch, key: Array(rest.prefix(80)),
                value: Array(rest.suffix(40)), headers: headers)
            _ = (try? RetryNote(record), try? DeadLetter(record), CompletedRecord(completedBy: record), record.epoch)
            _ = (try? keys?.check(record), try? intake.job(from: record), intake.id(ofRefused: record))
            _ = DeadLetter.standing([record])
        }
    }

    /// Rows that are read must be written back unchanged.
    private static func row(_ record: Record) {
        guard let entry = try? ChangelogEntry(record) else { return }
        let again: NewRecord
        switch entry {
        case .change(let change): again = change.newRecord(partition: record.partition)
        case .progress(let row): again = row.newRecord()
        case .epoch: return
        }
        let written = Record(
            topic: .variants, partition: record.partition, offset: 1, timestamp: .epoch, key: again.key,
            value: again.value,
            headers: again.headers)
        precondition((try? ChangelogEntry(written)) == entry)
    }
}
