package import Canonical
internal import Clocks
internal import ImageModel
internal import JSONText

extension Control {
    /// Most bytes of `by` and of `why`.
    package static let textLimit = 256
    /// How far a control's own time may be ahead of its append time, or behind it if it is signed.
    package static let ageLimit = Duration.minutes(10)
    private static let fields: [StaticString] = [
        "kind", "job", "url", "host", "lane", "before", "all", "until", "id", "by", "why", "at", "ends",
    ]

    /// Decodes `{"kind":"cancel","job":…}`, with `url`, or with at least one of `host`, `lane` and `before` in place of
    /// `job`, and optionally `id`, `by`, `why`, `at` and `ends`. A pause and a resume have exactly one of `host`, `lane` and
    /// `all`; a pause may have `until`. Its id is the header `ce_id`, else the body's id, else the
    /// record's topic, partition and offset.
    package init(_ record: Record, rules: CanonicalRules, keys: JobKeys? = nil) throws(ControlFailure) {
        guard let body = record.value, !body.isEmpty else { throw .invalid(reason: "it has no body") }
        guard body.count <= RecordLimits.jobBytes else {
            throw .invalid(reason: "it has \(body.count) bytes, over the limit of \(RecordLimits.jobBytes)")
        }
        let id = record.header(EventHeader.id)
        guard id.map(Job.isID) ?? true else {
            throw .invalid(reason: "the header \(EventHeader.id) is not an id of 1 to 256 bytes without control bytes")
        }
        if let keys { try keys.check(control: record) }
        var refusal: ControlFailure?
        do throws(JSONFailure) {
            self = try JSONReader.read(body.withoutByteOrderMark) { (reader) throws(JSONFailure) -> Control in
                try Self.read(&reader, rules, &refusal)
            }
        } catch {
            if case .unknownField(let name, _) = error {
                throw .invalid(reason: "it has an unknown field \"\(name.prefix(80))\". Its fields are \(Self.fields.map { "\($0)" }.joined(separator: ", "))")
            }
            throw .invalid(reason: error.description)
        }
        if let refusal { throw refusal }
        isSigned = keys != nil
        if let id { self.id = id }
        if self.id.isEmpty { self.id = record.placeText }
        try checkAge(appended: record.timestamp, isSigned: keys != nil)
        if verb == .pause { try setEnd(appended: record.timestamp) }
    }

    private mutating func setEnd(appended: WallTime) throws(ControlFailure) {
        let end = until ?? appended + Pause.usual
        guard end > appended else {
            throw .invalid(reason: "its \"until\" \(Timestamp.text(end)) is not after the time at which it was appended. Check its publisher's clock")
        }
        guard end - appended <= Pause.longest + Self.clockSkew else {
            throw .invalid(reason: "its \"until\" \(Timestamp.text(end)) is more than 24 h after it was appended. Pause again before a shorter pause ends")
        }
        until = min(end, appended + Pause.longest)
    }

    private func checkAge(appended: WallTime, isSigned: Bool) throws(ControlFailure) {
        guard let at else {
            if isSigned { throw .invalid(reason: "it is signed and has no field \"at\", the time at which it was written") }
            return
        }
        if at - appended > Self.ageLimit {
            throw .invalid(reason: "its time \(Timestamp.text(at)) is more than 10 min after it was appended. Check its publisher's clock")
        }
        if isSigned, appended - at > Self.ageLimit {
            throw .replayed(reason: "it was written at \(Timestamp.text(at)), more than 10 min before it was appended")
        }
    }

    private static func read(
        _ reader: inout JSONReader, _ rules: CanonicalRules, _ refusal: inout ControlFailure?
    ) throws(JSONFailure) -> Control {
        var (kind, id, by, why): (Verb?, String?, String?, String?) = (nil, nil, nil, nil)
        var (job, url): (String?, String?) = (nil, nil)
        var filter = Filter()
        var isAll = false
        var (at, until): (WallTime?, WallTime?)
        var ends: [Topic: Int64] = [:]
        try reader.openObject()
        while let key = try reader.nextKey() {
            // Some serializers write an absent field as null.
            if reader.null() {
                guard fields.contains(where: key.isNamed) else { throw reader.unknown(key) }
                continue
            }
            switch key {
            case "kind": kind = try reader.value(Verb.names) { Verb(rawValue: $0) }
            case "job": job = try reader.id()
            case "id": id = try reader.id()
            case "url": url = try reader.string()
            case "host": filter.host = try reader.value("a host of 1 to 300 bytes") { (1...300).contains($0.utf8.count) ? $0.lowercased() : nil }
            case "lane": filter.lane = try reader.value(Lane.names) { Lane(rawValue: $0) }
            case "before": filter.before = try reader.time("before", &refusal)
            case "all": isAll = try reader.boolean()
            case "until": until = try reader.time("until", &refusal)
            case "by": by = try reader.note()
            case "why": why = try reader.note()
            case "at": at = try reader.time("at", &refusal)
            case "ends": ends = try reader.laneEnds()
            default: throw reader.unknown(key)
            }
        }
        let verb = try kind.field("kind")
        let scopes = [job != nil, url != nil, !filter.isEmpty].count { $0 }
        var scope = Scope.filter(filter)
        if verb.action.isPausing {
            if isAll { scope = .all }
            let isOne = [isAll, filter.host != nil, filter.lane != nil].count { $0 } == 1
            if !isOne || job != nil || url != nil || filter.before != nil {
                refusal = .invalid(reason: "a \(verb.rawValue) must have exactly one of host, lane and \"all\": true, and no other field that names jobs")
            } else if verb == .resume, until != nil {
                refusal = .invalid(reason: "a resume has no \"until\": it ends pauses at once")
            }
        } else if isAll || until != nil {
            refusal = .invalid(reason: "\"all\" and \"until\" are fields of pause and resume, and it is a \(verb.rawValue)")
        } else if scopes != 1 {
            refusal = .invalid(reason: "it must name a job, a url, or at least one of host, lane and before, and \(scopes == 0 ? "names none of them" : "names several of them")")
        } else if let job {
            scope = .job(job)
        } else if let url {
            do throws(CanonicalFailure) {
                let source = try rules.source(of: url)
                scope = .source(source.key, SourceURL(source.fetchURL, hiding: rules.hidden))
            } catch {
                refusal = .invalid(reason: "\(error.description)")
            }
        }
        return Control(id: id ?? "", verb, scope, by: by, why: why, at: at, ends: ends, until: until)
    }

    package var body: [UInt8] {
        var json = JSONWriter(reserving: 256)
        json.beginObject()
        json.field("kind", verb.rawValue)
        switch scope {
        case .job(let id): json.field("job", id)
        case .source(_, let url): json.field("url", url.fetched)
        case .filter(let filter):
            if let host = filter.host { json.field("host", host) }
            if let lane = filter.lane { json.field("lane", lane.rawValue) }
            if let before = filter.before { json.field("before", before) }
        case .all: json.field("all", true)
        }
        if let until { json.field("until", until) }
        if let by { json.field("by", by) }
        if let why { json.field("why", why) }
        if let at { json.field("at", at) }
        if !ends.isEmpty {
            json.key("ends")
            json.beginObject()
            for topic in Topic.lanes {
                guard let end = ends[topic] else { continue }
                json.key(named: topic.rawValue)
                json.integer(end)
            }
            json.endObject()
        }
        json.endObject()
        return json.bytes
    }

    /// The control as a record of one partition; signed if there are keys. Its `at` must be set then.
    package func newRecord(partition: PartitionID, signedBy keys: JobKeys? = nil) -> NewRecord {
        let body = body
        var headers = EventHeader.event(EventHeader.controlRequested, id: id, at: at ?? .epoch, traceparent: nil)
        if let keys { headers.append(EventHeader.signature, keys.signature(controlID: id, body: body)) }
        var key: [UInt8] = []
        if case .source(let source, _) = scope { key = RecordKey.job(source).bytes }
        return NewRecord(topic: .control, partition: partition, key: key, value: body, headers: headers)
    }
}

extension JSONReader {
    fileprivate mutating func id() throws(JSONFailure) -> String {
        try value("an id of 1 to 256 bytes without control bytes") { Job.isID($0) ? $0 : nil }
    }

    fileprivate mutating func note() throws(JSONFailure) -> String {
        try value("a text of 1 to \(Control.textLimit) bytes without control bytes") {
            Job.isID($0) && $0.utf8.count <= Control.textLimit ? $0 : nil
        }
    }

    fileprivate mutating func time(_ name: String, _ refusal: inout ControlFailure?) throws(JSONFailure) -> WallTime {
        let time = try time()
        if RecordLimits.unixSeconds.contains(time) {
            refusal = .invalid(reason: "\"\(name)\": \(time.milliseconds) is a time in 1970. Give milliseconds")
        }
        return time
    }

    fileprivate mutating func laneEnds() throws(JSONFailure) -> [Topic: Int64] {
        var ends: [Topic: Int64] = [:]
        try openObject()
        while let name = try nextKey() {
            let topic = Topic(rawValue: name.text)
            guard let topic, topic.lane != nil else { throw unknown(name) }
            ends[topic] = try logOffset()
        }
        return ends
    }
}
