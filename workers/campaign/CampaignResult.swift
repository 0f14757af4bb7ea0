internal import Foundation

/// Results of a campaign.
struct CampaignResult {
    let counts: [Int]
    /// Outcomes of jobs, by the kind of input that they were published for.
    let ends: [String: [String: Int]]
    let crashes: Int
    let lost: [String]
    let repeated: Int
    let rows: RowCounts
    let innocent: [Duration]
    let asked: Int

    private var p99: Double {
        let sorted = innocent.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * 99 / 100)] / .seconds(1)
    }

    var isGood: Bool {
        crashes == 0 && lost.isEmpty && repeated == 0 && rows.isGood && p99 <= 2 && asked == innocent.count
    }

    var json: String {
        let fields = Input.allCases.map { "\"\($0)\":\(counts[$0.rawValue])" }.joined(separator: ",")
        return "{\(fields),\"crashes\":\(crashes),\"innocentP99Seconds\":\(String(format: "%.3f", p99))}"
    }

    var table: String {
        var lines = Input.allCases.map { input in
            let ends = (ends["\(input)"] ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            return "\(input): \(counts[input.rawValue]) (\(ends.joined(separator: ", ")))"
        }
        lines.append("crashes of the worker: \(crashes)")
        let examples = lost.isEmpty ? "" : " (\(lost.prefix(8).joined(separator: ", ")))"
        lines.append("jobs without an outcome: \(lost.count)\(examples)")
        lines.append("jobs with more than one: \(repeated)")
        lines.append(
            "damaged rows: \(rows.published), of which \(rows.unreadable) cannot be read, and \(rows.leftOut) were left out; "
                + "of \(rows.kept) kept rows \(rows.leftOutAtRestore) when all were read again")
        lines.append("innocent jobs: \(innocent.count) of \(asked), p99 \(String(format: "%.3f", p99)) s")
        return lines.joined(separator: "\n")
    }
}
