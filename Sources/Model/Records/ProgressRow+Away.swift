package import ImageModel
internal import JSONText

extension ProgressRow {
    /// Parked jobs of one host, for people.
    package struct Away: Sendable, Hashable {
        /// Host, or group of hosts.
        package let host: String
        package let jobs: ByLane<Int>

        package init(_ host: String, _ jobs: ByLane<Int>) { (self.host, self.jobs) = (host, jobs) }
    }

    /// Most hosts in a row: as many as `mezzotint lag` names.
    package static let awayLimit = 20
}

extension JSONWriter {
    mutating func away(_ away: ProgressRow.Away) {
        beginObject()
        field("host", away.host)
        for lane in Lane.allCases where away.jobs[lane] > 0 {
            key(named: lane.rawValue)
            integer(away.jobs[lane])
        }
        endObject()
    }
}

extension JSONReader {
    mutating func away() throws(JSONFailure) -> [ProgressRow.Away] {
        var all: [ProgressRow.Away] = []
        try openArray()
        while try nextElement() {
            var (host, jobs): (String?, ByLane<Int>) = (nil, .none)
            try openObject()
            while let key = try nextKey() {
                if case "host" = key {
                    host = try string()
                    continue
                }
                let name = key.text
                if let lane = Lane(rawValue: name) { jobs[lane] = try integer(in: 0...1 << 40) } else { try skip() }
            }
            all.append(ProgressRow.Away(try host.field("host"), jobs))
        }
        return all
    }
}
