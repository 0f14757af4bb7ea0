internal import Clocks
internal import Ports
internal import Records

/// Failed and dead jobs by code and host, as far as `outcomes` and `dead` were read.
struct FailureTable: Sendable {
    struct Key: Sendable, Hashable {
        let code: String
        let host: String

        /// The key as outcomes show it. They hide a code that may reveal the workers' network.
        var published: Key {
            let isHidden =
                FetchFailure.Code(rawValue: code)?.isConfidential ?? RetryCause.Code(rawValue: code)?.isConfidential
            return isHidden == true ? Key(code: FetchFailure.Code.unreachable.rawValue, host: host) : self
        }
    }

    struct Row: Sendable, Hashable {
        var count = 0
        var first = WallTime.distantFuture
        /// Time of the newest failure, with its message and an affected job.
        var last = WallTime.distantPast
        var message = ""
        var job = ""
        var url = ""
        var source: String?
    }

    private(set) var rows: [Key: Row] = [:]
    private static let limit = 200

    mutating func count(_ end: JobEnd) {
        let key = Key(code: end.code, host: end.host)
        if rows[key] == nil, rows.count >= Self.limit, let oldest = rows.min(by: { $0.value.last < $1.value.last }) {
            rows[oldest.key] = nil
        }
        var row = rows[key, default: Row()]
        row.count += 1
        row.first = min(row.first, end.at)
        if end.at >= row.last {
            (row.last, row.message, row.job, row.url, row.source) = (end.at, end.message, end.job, end.url, end.source)
        }
        rows[key] = row
    }
}
