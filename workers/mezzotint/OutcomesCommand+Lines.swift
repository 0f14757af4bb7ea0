import CommandLine
import Ports
internal import Records

extension OutcomesCommand {
    private static let pause = Duration.milliseconds(500)

    /// Prints outcomes line by line, in the order in which they were appended.
    static func list(
        _ subject: OutcomeSearch.Subject?, _ arguments: ParsedArguments, _ lines: OutcomeLines
    ) async throws -> ExitCode {
        try await LogAccess.reading(arguments) { log in
            var tail = TopicTail(.outcomes, in: log)
            var count = 0
            while true {
                try await tail.read { record in
                    guard let report = try? OutcomeReport(record), subject.map(report.isOf) ?? true,
                        report.kind.isFailure || !arguments.flag("failed")
                    else { return }
                    lines.write(record, report)
                    count += 1
                }
                guard arguments.flag("follow") else { break }
                try await Task.sleep(for: pause)
            }
            if count == 0, !arguments.flag("json") { Console.print("There are no such outcomes.") }
            return .success
        }
    }
}

extension OutcomeReport {
    fileprivate func isOf(_ subject: OutcomeSearch.Subject) -> Bool {
        switch subject {
        case .job(let id): job == id
        case .source(let key): source == key
        }
    }
}
