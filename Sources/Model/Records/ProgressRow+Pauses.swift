internal import Clocks
internal import ImageModel
internal import JSONText

extension JSONWriter {
    mutating func pauses(_ pauses: [Pause]) {
        key("pauses")
        beginArray()
        for pause in pauses {
            beginObject()
            field("control", pause.control)
            switch pause.scope {
            case .all: field("all", true)
            case .lane(let lane): field("lane", lane.rawValue)
            case .host(let host): field("host", host)
            }
            field("since", pause.since)
            field("until", pause.until)
            if let by = pause.by { field("by", by) }
            if let why = pause.why { field("why", why) }
            endObject()
        }
        endArray()
    }
}

extension JSONReader {
    /// Reads pauses, without scopes that only a newer version knows.
    mutating func pauses() throws(JSONFailure) -> [Pause] {
        var pauses: [Pause] = []
        try openArray()
        while try nextElement() { if let pause = try pause() { pauses.append(pause) } }
        return pauses
    }

    private mutating func pause() throws(JSONFailure) -> Pause? {
        var (control, by, why): (String?, String?, String?) = (nil, nil, nil)
        var scope: Pause.Scope?
        var (since, until): (WallTime?, WallTime?) = (nil, nil)
        try openObject()
        while let key = try nextKey() {
            switch key {
            case "control": control = try string()
            case "all": scope = try boolean() ? .all : nil
            case "lane": scope = Lane(rawValue: try string()).map { .lane($0) }
            case "host": scope = .host(try string())
            case "since": since = try time()
            case "until": until = try time()
            case "by": by = try string()
            case "why": why = try string()
            default: try skip()
            }
        }
        let (name, from, end) = (try control.field("control"), try since.field("since"), try until.field("until"))
        return scope.map { Pause(name, $0, since: from, until: end, by: by, why: why) }
    }
}
