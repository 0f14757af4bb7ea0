package import ImageModel
internal import JSONText

extension ProgressRow {
    /// Jobs of one host in tiers, as far as an owner knows: a number for people, who ask for it while no worker has read
    /// the tiers.
    package struct Away: Sendable, Hashable {
        /// The host, or the group of hosts.
        package let host: String
        package let jobs: ByLane<Int>

        package init(_ host: String, _ jobs: ByLane<Int>) { (self.host, self.jobs) = (host, jobs) }
    }

    /// A row tells of so many hosts: of as many as `lag` names.
    package static let awayLimit = 20

    /// Of all hosts.
    package var awayCount: Int { away.reduce(0) { $0 + $1.jobs.sum } }
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
