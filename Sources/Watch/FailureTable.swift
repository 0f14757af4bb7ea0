internal import Records

/// Failed and dead jobs by code and host, as far as the ends of `outcomes` and `dead` were read.
struct FailureTable: Sendable {
    struct Key: Sendable, Hashable {
        let code: String
        let host: String
    }

    struct Row: Sendable, Hashable {
        var count = 0
        var first = Int64.max
        /// The newest of them: milliseconds since 1970, what it says, and a job that it befell.
        var last = Int64.min
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

/// Dead letters that stand, folded from `dead` as `DeadLetter.standing` does.
struct LetterTable: Sendable {
    private var letters: [PartitionID: [String: LetterChange.Letter]] = [:]
    private var whole: Set<PartitionID> = []
    private let partitionCount: Int
    private var kept = 0
    /// Letters beyond those that are kept came: there are at least as many.
    private(set) var isMore = false
    private static let limit = 10_000

    init(partitions: Int) { partitionCount = partitions }

    mutating func take(_ change: LetterChange) {
        if change.isWhole { whole.insert(change.partition) }
        for id in change.discarded where letters[change.partition]?.removeValue(forKey: id) != nil { kept -= 1 }
        for letter in change.added where letters[change.partition]?[letter.id] == nil {
            guard kept < Self.limit else {
                isMore = true
                return
            }
            letters[change.partition, default: [:]][letter.id] = letter
            kept += 1
        }
    }

    /// Of the partitions whose topic was read to its end.
    var counts: [PartitionID: Int] {
        Dictionary(uniqueKeysWithValues: whole.map { ($0, letters[$0]?.count ?? 0) })
    }

    /// nil until every partition's topic was read to its end.
    var count: Int? { partitionCount > 0 && whole.count == partitionCount ? kept : nil }

    var newest: LetterChange.Letter? { letters.values.lazy.flatMap(\.values).max { $0.at < $1.at } }

    /// Of the last hour, with this code.
    func newest(_ code: String, since: Int64) -> LetterChange.Letter? {
        letters.values.lazy.flatMap(\.values).filter { $0.code == code && $0.at >= since }.max { $0.at < $1.at }
    }

    var byKey: [FailureTable.Key: Int] {
        var counts: [FailureTable.Key: Int] = [:]
        for letter in letters.values.lazy.flatMap(\.values) {
            counts[FailureTable.Key(code: letter.code, host: letter.host), default: 0] += 1
        }
        return counts
    }
}
