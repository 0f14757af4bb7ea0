internal import Canonical
package import Clocks
package import ImageModel
package import JSONText

/// Jobs that a control names, for people and scripts: as `Control.Scope`, with the URL's secrets left out.
package struct ControlSubject: Sendable, Hashable, CustomStringConvertible {
    package var job: String?
    package var url: String?
    package var host: String?
    package var lane: Lane?
    package var before: WallTime?
    package var isAll = false

    package init(_ scope: Control.Scope) {
        switch scope {
        case .job(let id): job = id
        case .source(_, let url): self.url = url.shown.description
        case .filter(let filter): (host, lane, before) = (filter.host, filter.lane, filter.before)
        case .all: isAll = true
        }
    }

    private init() {}

    package var description: String {
        [
            job.map { "job \($0)" }, url.map { "source \($0)" }, host.map { "host \($0)" }, lane.map { "lane \($0)" },
            before.map { "published before \(Timestamp.text($0))" }, isAll ? "all jobs" : nil,
        ].compactMap { $0 }.joined(separator: ", ")
    }

    /// Writes an object with the fields of the control that name jobs.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        if let job { json.field("job", job) }
        if let url { json.field("url", url) }
        if let host { json.field("host", host) }
        if let lane { json.field("lane", lane.rawValue) }
        if let before { json.field("before", before) }
        if isAll { json.field("all", true) }
        json.endObject()
    }

    static func read(_ reader: inout JSONReader) throws(JSONFailure) -> ControlSubject {
        var subject = ControlSubject()
        try reader.openObject()
        while let key = try reader.nextKey() {
            switch key {
            case "job": subject.job = try reader.string()
            case "url": subject.url = try reader.string()
            case "host": subject.host = try reader.string()
            case "lane": subject.lane = try reader.value(Lane.names) { Lane(rawValue: $0) }
            case "before": subject.before = try reader.time()
            case "all": subject.isAll = try reader.boolean()
            default: try reader.skip()
            }
        }
        return subject
    }
}
