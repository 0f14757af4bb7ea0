internal import Clocks
import Ports
import Posix
internal import Records

/// Waits for the outcomes of jobs that this command publishes.
struct OutcomeWait {
    private var tail: TopicTail
    /// Awaited jobs by the ids of their outcomes, with their number: jobs may share an id.
    private var awaited: [String: (job: String, count: Int)] = [:]

    private static let pause = Duration.milliseconds(200)

    /// Only outcomes that come later count.
    init(in log: any Log) async throws { tail = try await TopicTail(behind: .outcomes, in: log) }

    mutating func add(_ job: String, replays: Int = 0) {
        awaited[Outcome.id(of: job, replays: replays), default: (job, 0)].count += 1
    }

    /// Jobs without an outcome.
    var left: Int { awaited.values.reduce(0) { $0 + $1.count } }

    /// Passes on each outcome as it comes, until all came or the time is over.
    mutating func run(for limit: Duration, _ body: (Record, OutcomeReport) -> Void) async throws {
        let end = SystemTime.monotonic + limit
        while !awaited.isEmpty {
            try await read(body)
            guard !awaited.isEmpty, SystemTime.monotonic < end else { return }
            try await Task.sleep(for: Self.pause)
        }
    }

    private mutating func read(_ body: (Record, OutcomeReport) -> Void) async throws {
        var awaited = awaited
        try await tail.read { record in
            guard let id = record.header(EventHeader.id), let known = awaited[id],
                let report = try? OutcomeReport(record)
            else { return }
            awaited[id] = known.count > 1 ? (known.job, known.count - 1) : nil
            body(record, report)
        }
        self.awaited = awaited
    }

    /// Some of the jobs without an outcome.
    func missing(_ most: Int) -> [String] { Array(awaited.values.map(\.job).sorted().prefix(most)) }
}
