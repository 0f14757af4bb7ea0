package import Clocks
internal import JSONText

/// Checkpoint of a partition, stored as a row of its changelog: the owners' progress in its topics, the store that its
/// rows belong to, and the jobs that may have crashed owners.
///
/// With committed offsets alone, a new owner would complete again every job that was finished above them. A row
/// survives a hand-over and is fenced like every other row. It also shows whether a topic was recreated.
package struct ProgressRow: Sendable, Hashable {
    package var partition: PartitionID
    package var topics: [Topic: TopicProgress]
    /// Store that the rows belong to; nil in rows written before the field existed.
    package var store: StoreIdentity?
    /// Whether the owner left the partition cleanly, or is leaving it so. nil in rows written before the field existed.
    package var isClean: Bool?
    /// Crashed owners since an owner last ran long enough.
    package var crashes: Int
    /// Records that may have crashed owners.
    package var quarantined: [QuarantinedJob]
    /// Ends of the partition's `outcomes`, `parked` and `dead`: the row accounts for every record before them. nil in rows
    /// written before the field existed.
    package var answers: [Topic: Int64]?
    /// Hosts with the most parked jobs, in descending order.
    package var away: [Away]
    /// Parked jobs of each lane, and the owner's epoch in `parked`; nil in rows written before the field existed, or
    /// before the owner had read `parked`.
    package var parked: Parked?
    /// Jobs lost to retention; nil if there were none within the last day.
    package var lost: Lost?
    /// Active pauses, in the order of their controls.
    package var pauses: [Pause]
    package var at: WallTime

    package init(
        partition: PartitionID, topics: [Topic: TopicProgress], store: StoreIdentity? = nil,
        answers: [Topic: Int64]? = nil, isClean: Bool? = nil, crashes: Int = 0, quarantined: [QuarantinedJob] = [],
        away: [Away] = [], parked: Parked? = nil, lost: Lost? = nil, pauses: [Pause] = [], at: WallTime
    ) {
        (self.parked, self.pauses) = (parked, pauses)
        (self.partition, self.topics, self.store, self.answers, self.at) = (partition, topics, store, answers, at)
        (self.isClean, self.crashes, self.quarantined, self.away, self.lost) = (isClean, crashes, quarantined, away, lost)
    }

    package func newRecord() -> NewRecord {
        NewRecord(
            topic: .variants, partition: partition, key: RecordKey.progress(partition).bytes, value: json,
            headers: EventHeader.event(
                EventHeader.partitionProgressed, id: "@progress/\(partition)/\(at.milliseconds)", at: at, traceparent: nil))
    }

    package var json: [UInt8] {
        var json = JSONWriter(reserving: 512)
        json.beginObject()
        json.key("topics")
        json.beginObject()
        for topic in Topic.consumed {
            guard let progress = topics[topic] else { continue }
            json.key(named: topic.rawValue)
            json.progress(progress)
        }
        json.endObject()
        if let store { json.field("store", store.description) }
        if let isClean { json.field("clean", isClean) }
        if crashes > 0 { json.field("deaths", Int64(crashes)) }
        if !quarantined.isEmpty {
            json.key("suspects")
            json.beginArray()
            for quarantinedJob in quarantined { json.quarantinedJob(quarantinedJob) }
            json.endArray()
        }
        if let answers {
            json.key("answers")
            json.beginObject()
            for topic in Topic.allCases {
                guard let end = answers[topic] else { continue }
                json.key(named: topic.rawValue)
                json.integer(end)
            }
            json.endObject()
        }
        if !away.isEmpty {
            json.key("away")
            json.beginArray()
            for away in away { json.away(away) }
            json.endArray()
        }
        if let parked { json.parked(parked) }
        if let lost { json.lost(lost) }
        if !pauses.isEmpty { json.pauses(pauses) }
        json.field("at", at)
        json.endObject()
        return json.bytes
    }

    /// Decodes the row as an index stores it; nil if the bytes are damaged.
    package init?(partition: PartitionID, stored json: [UInt8]) {
        guard let row = try? ProgressRow(partition: partition, json: json) else { return nil }
        self = row
    }

    init(partition: PartitionID, json: [UInt8]) throws(JSONFailure) {
        self = try JSONReader.read(json) { (reader) throws(JSONFailure) -> ProgressRow in
            var topics: [Topic: TopicProgress]?
            var store: StoreIdentity?
            var (isClean, crashes, quarantined): (Bool?, Int, [QuarantinedJob]) = (nil, 0, [])
            var answers: [Topic: Int64]?
            var away: [Away] = []
            var (parked, lost): (Parked?, Lost?)
            var pauses: [Pause] = []
            var at: WallTime?
            try reader.openObject()
            while let key = try reader.nextKey() {
                switch key {
                case "topics":
                    var read: [Topic: TopicProgress] = Dictionary(minimumCapacity: Topic.consumed.count)
                    try reader.openObject()
                    while let name = try reader.nextKey() {
                        // A newer version may have topics that this one does not know.
                        if let topic = Topic(rawValue: name.text), Topic.consumed.contains(topic) {
                            read[topic] = try reader.progress()
                        } else {
                            try reader.skip()
                        }
                    }
                    topics = read
                case "store": store = try reader.value("a store's identity") { StoreIdentity($0) }
                case "clean": isClean = try reader.boolean()
                case "deaths": crashes = try reader.crashes()
                case "suspects": quarantined = try reader.quarantined()
                case "answers": answers = try reader.answerEnds()
                case "away": away = try reader.away()
                case "parked": parked = try reader.parked()
                case "lost": lost = try reader.lost()
                case "pauses": pauses = try reader.pauses()
                case "at": at = WallTime(milliseconds: try reader.integer())
                default: try reader.skip()
                }
            }
            return ProgressRow(
                partition: partition, topics: try topics.field("topics"), store: store, answers: answers,
                isClean: isClean, crashes: crashes, quarantined: quarantined, away: away, parked: parked, lost: lost,
                pauses: pauses, at: try at.field("at"))
        }
    }
}

extension JSONWriter {
    fileprivate mutating func progress(_ progress: TopicProgress) {
        beginObject()
        field("next", progress.next)
        if let committed = progress.committed { field("committed", committed) }
        let bitmap = OffsetBitmap.bytes(progress.finished, from: progress.next)
        if !bitmap.isEmpty { field("finished", Base64.text(bitmap)) }
        if let fingerprint = progress.fingerprint { field("anchor", fingerprint) }
        if let last = progress.last { field("last", last) }
        endObject()
    }

    private mutating func field(_ name: StaticString, _ fingerprint: RecordFingerprint) {
        key(name)
        beginObject()
        field("offset", fingerprint.offset)
        field("timestamp", fingerprint.timestamp)
        endObject()
    }
}

extension JSONReader {
    fileprivate mutating func progress() throws(JSONFailure) -> TopicProgress {
        var next: Int64?
        var committed: Int64?
        var bitmap: [UInt8] = []
        var (fingerprint, last): (RecordFingerprint?, RecordFingerprint?)
        try openObject()
        while let key = try nextKey() {
            switch key {
            case "next": next = try logOffset()
            case "committed": committed = try logOffset()
            case "finished":
                bitmap = try value("a bitmap in base 64") { text in
                    Base64.bytes(text).flatMap { $0.count <= OffsetBitmap.byteLimit ? $0 : nil }
                }
            case "anchor": fingerprint = try self.fingerprint()
            case "last": last = try self.fingerprint()
            default: try skip()
            }
        }
        let start = try next.field("next")
        return TopicProgress(
            next: start, committed: committed, finished: OffsetBitmap.offsets(bitmap, from: start), fingerprint: fingerprint,
            last: last)
    }

    fileprivate mutating func answerEnds() throws(JSONFailure) -> [Topic: Int64] {
        var ends: [Topic: Int64] = [:]
        try openObject()
        while let name = try nextKey() {
            if let topic = Topic(rawValue: name.text) { ends[topic] = try logOffset() } else { try skip() }
        }
        return ends
    }

    private mutating func fingerprint() throws(JSONFailure) -> RecordFingerprint {
        var place: Int64?
        var timestamp: WallTime?
        try openObject()
        while let key = try nextKey() {
            switch key {
            case "offset": place = try logOffset()
            case "timestamp": timestamp = WallTime(milliseconds: try integer())
            default: try skip()
            }
        }
        return RecordFingerprint(offset: try place.field("offset"), timestamp: try timestamp.field("timestamp"))
    }

    /// Reads an offset. The limit is far above every real log's end and leaves room for sums.
    mutating func logOffset() throws(JSONFailure) -> Int64 { Int64(try integer(in: 0...1 << 60)) }
}
