internal import Canonical
package import Clocks
package import ImageModel
internal import JSONText
internal import VariantSpec

/// A job as producers write it, before canonical rules are applied:
/// `{"url":…,"variants":["1280x1280-q80.webp",…],"accept":…,"regions":[[x,y,width,height],…],"lane":"fast","id":…,
/// "expires":…,"retryFor":…,"freshness":…,"fallback":…}`.
///
/// `accept` is an HTTP Accept header: it names formats that variants ending in `.auto` may become. The published body
/// puts these formats into the specs themselves: `640x0-avif-webp.auto`. It also does so with `regions`, which apply to
/// crops without a position: `160y160-focus512_300.jpg`.
///
/// The schema is closed: an unknown field is refused by name. A misspelt `expires` that is silently ignored costs more
/// than an early refusal.
struct JobBody {
    var url: String
    /// nil if the field is absent: a dialect URL then gives its own variant.
    var variants: [VariantSpec]?
    var lane: Lane?
    var id: String?
    var expires: WallTime?
    var retryFor: Duration?
    var freshness = JobFreshness.ifStale
    var fallback = JobFallback.stale
    /// Regions that crops without a position keep.
    var regions: [KeptRegion] = []

    init(_ bytes: [UInt8], rules: CanonicalRules) throws(JobFailure) {
        var recent = RecentParts()
        try self.init(bytes, rules: rules, &recent)
    }

    init(_ bytes: [UInt8], rules: CanonicalRules, _ recent: inout RecentParts) throws(JobFailure) {
        guard bytes.count <= RecordLimits.jobBytes else { throw .tooLarge(bytes: bytes.count) }
        let bytes = bytes.withoutByteOrderMark
        if let failure = JobFailure(otherForm: bytes) { throw failure }
        var refusal: JobFailure?
        do throws(JSONFailure) {
            self = try JSONReader.read(bytes) { (reader) throws(JSONFailure) -> JobBody in
                try Self.read(&reader, rules, &recent, &refusal)
            }
        } catch {
            throw JobFailure(error)
        }
        if let refusal { throw refusal }
    }

    init(url: String, variants: [VariantSpec]?, lane: Lane?, id: String?, expires: WallTime?, retryFor: Duration? = nil) {
        (self.url, self.variants, self.lane, self.id) = (url, variants, lane, id)
        (self.expires, self.retryFor) = (expires, retryFor)
    }

    private static let fields: [StaticString] = [
        "url", "variants", "accept", "regions", "lane", "id", "expires", "retryFor", "giveUp", "freshness", "fallback",
    ]

    private static func read(
        _ reader: inout JSONReader, _ rules: CanonicalRules, _ recent: inout RecentParts, _ refusal: inout JobFailure?
    ) throws(JSONFailure) -> JobBody {
        var accepted: AcceptedFormats = []
        var regions: [KeptRegion] = []
        var url: String?
        var variants: [VariantSpec]?
        var lane: Lane?
        var id: String?
        var expires: WallTime?
        var retryFor: Duration?
        var freshness = JobFreshness.ifStale
        var fallback = JobFallback.stale
        try reader.openObject()
        while let key = try reader.nextKey() {
            // Some serializers write an absent field as null.
            if reader.null() {
                guard fields.contains(where: key.isNamed) else { throw reader.unknown(key) }
                continue
            }
            switch key {
            case "url": url = try reader.string()
            case "variants": variants = try readVariants(&reader, rules, &recent, &refusal)
            case "accept": accepted = AcceptedFormats(header: try reader.string())
            case "regions": regions = try readRegions(&reader)
            case "lane": lane = try reader.value(Lane.names) { Lane(rawValue: $0) }
            case "id":
                id = try reader.value("an id of 1 to 256 bytes without control bytes") { Job.isID($0) ? $0 : nil }
            case "expires":
                let time = try reader.time()
                if RecordLimits.unixSeconds.contains(time) {
                    refusal = .badValue(reason: "\"expires\": \(time.milliseconds) is a time in 1970. Give milliseconds")
                }
                expires = time
            // giveUp: its name before 0.2.0.
            case "retryFor", "giveUp": retryFor = try reader.duration(in: RecordLimits.retryTimes)
            case "freshness": freshness = try reader.value(JobFreshness.names) { JobFreshness(rawValue: $0) }
            case "fallback": fallback = try reader.value(JobFallback.names) { JobFallback(rawValue: $0) }
            default: throw reader.unknown(key)
            }
        }
        var body = JobBody(
            url: try url.field("url"), variants: accepted.isEmpty ? variants : variants?.map { $0.accepting(accepted) },
            lane: lane, id: id,
            expires: expires, retryFor: retryFor)
        (body.freshness, body.fallback, body.regions) = (freshness, fallback, regions)
        return body
    }

    private static func readRegions(_ reader: inout JSONReader) throws(JSONFailure) -> [KeptRegion] {
        var regions: [KeptRegion] = []
        let start = reader.offset
        try reader.openArray()
        while try reader.nextElement() {
            let place = reader.offset
            let expected = "each region as [x, y, width, height], in fractions of the source's sides from 0 to 1"
            var numbers: [Double] = []
            try reader.openArray(expected)
            while try reader.nextElement() { numbers.append(try reader.number(expected)) }
            guard numbers.count == 4,
                let region = KeptRegion(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
            else { throw reader.refuse(expected, "\(numbers)", at: place) }
            regions.append(region)
            if regions.count > KeptRegion.limit {
                throw reader.refuse("at most \(KeptRegion.limit) regions", "more", at: start)
            }
        }
        return regions
    }

    /// The field `url` of a text that may not be a job, even if the text after it is malformed.
    static func url(in bytes: [UInt8]) -> String? {
        var url: String?
        _ = try? JSONReader.read(bytes.withoutByteOrderMark) { (reader) throws(JSONFailure) in
            try reader.openObject()
            while url == nil, let key = try reader.nextKey() {
                if case "url" = key { url = try reader.string() } else { try reader.skip() }
            }
        }
        return url
    }

    /// Reads variants without repeats. After the first refusal it still reads on, so that malformed JSON is reported as
    /// such.
    private static func readVariants(
        _ reader: inout JSONReader, _ rules: CanonicalRules, _ recent: inout RecentParts, _ refusal: inout JobFailure?
    ) throws(JSONFailure) -> [VariantSpec] {
        if let specs = recent.specs(in: &reader) { return specs }
        let start = reader.beginning()
        var specs: [VariantSpec] = []
        try reader.openArray()
        while try reader.nextElement() {
            let text = try reader.string()
            guard refusal == nil else { continue }
            do throws(CanonicalFailure) {
                let spec = try rules.spec(of: text)
                if !specs.contains(spec) { specs.append(spec) }
            } catch {
                refusal = .refused(error)
            }
            if specs.count > JobFailure.variantLimit { refusal = .tooManyVariants }
        }
        if refusal == nil, let text = reader.text(from: start, atMost: RecentParts.textBytes) {
            recent.note(specs, text)
        }
        return specs
    }
}

extension JobFailure {
    /// Failure of a job in a serializer's encoding other than UTF-8 text; nil if the bytes do not begin like one.
    package init?(otherForm bytes: [UInt8]) {
        guard bytes.count >= 5, let first = bytes.first, first != UInt8(ascii: "{") || bytes[1] == 0 else { return nil }
        // UTF-16 text of a URL or of JSON has a zero byte beside each of its first characters.
        let isZero = bytes[..<4].map { $0 == 0 }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
            || isZero == [true, false, true, false] || isZero == [false, true, false, true]
            || bytes[..<3] == [0, UInt8(ascii: "{"), 0] || bytes[..<2] == [UInt8(ascii: "{"), 0]
        {
            self = .notJSON(reason: "it is UTF-16")
        } else if bytes.starts(with: [0x1F, 0x8B]) {
            self = .notJSON(reason: "it is compressed by gzip")
        } else if first == 0 {
            let schema = bytes[1..<5].reduce(0) { $0 << 8 | UInt32($1) }
            self = .notJSON(
                reason:
                    "it begins with the five bytes of Confluent's wire format (0, and the schema id \(schema)). Let its producer use a string or byte array serializer"
            )
        } else {
            return nil
        }
    }
}

extension Job {
    /// Whether a text is a valid id. Ids go into headers, logs and the ids of other events.
    package static func isID(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count) && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
    }

    static func checkPublished(_ id: String) throws(JobFailure) {
        if id.hasPrefix(reservedPrefix) { throw .reservedID(id) }
    }

    /// Body as producers write it. The id and the trace go into headers; the topic gives the lane.
    package var body: [UInt8] {
        var json = JSONWriter(reserving: 64 + url.fetched.utf8.count + 32 * variants.count)
        json.beginObject()
        json.field("url", url.fetched)
        json.key("variants")
        json.beginArray()
        for spec in variants { json.spec(spec) }
        json.endArray()
        if let expires { json.field("expires", expires) }
        // Until 0.3.0: workers before 0.2.0 refuse retryFor, and both read giveUp.
        if let retryFor { json.field("giveUp", retryFor.milliseconds) }
        if freshness != .ifStale { json.field("freshness", freshness.rawValue) }
        if fallback != .stale { json.field("fallback", fallback.rawValue) }
        json.endObject()
        return json.bytes
    }

    /// Record that requests the job, in the partition that owns its source; signed if there are keys.
    package func newRecord(partitions count: Int, at time: WallTime, signedBy keys: JobKeys? = nil) -> NewRecord {
        let body = body
        var headers = EventHeader.event(EventHeader.jobRequested, id: id, at: time, traceparent: traceparent)
        if let keys { headers.append(EventHeader.signature, keys.signature(lane: lane, id: id, body: body)) }
        return NewRecord(
            topic: .jobs(lane), partition: source.partition(of: count), key: RecordKey.job(source).bytes, value: body,
            headers: headers)
    }
}

extension [UInt8] {
    /// The bytes without the byte order mark that some editors and serializers put before UTF-8.
    package var withoutByteOrderMark: [UInt8] { starts(with: [0xEF, 0xBB, 0xBF]) ? Array(dropFirst(3)) : self }
}
