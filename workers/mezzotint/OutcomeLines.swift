internal import Canonical
import CommandLine
internal import JSONText
internal import Records

/// Prints outcomes, one a line: for scripts the body as on the topic, for people its essence.
struct OutcomeLines {
    let isJSON: Bool
    let hidden: HiddenParameters

    func write(_ record: Record, _ report: OutcomeReport) {
        guard isJSON else { return Console.print(text(report)) }
        // In JSON, line ends and tabs are only between values.
        let line = (record.value ?? []).map { [0x09, 0x0A, 0x0D].contains($0) ? 0x20 : $0 }
        Console.print(String(decoding: line, as: UTF8.self))
    }

    /// `2026-11-28T12:00:00.000Z  failed  8f3c21-1  https://a.example/b.jpg  fetch.not-found: The origin answered 404.`
    private func text(_ report: OutcomeReport) -> String {
        let url = ShownURL(report.url, hiding: hidden).description
        let rest =
            report.failure.map { "\($0.code): \(hidden.hide(in: $0.message))" }
            ?? report.variants.map { "\($0.spec) \($0.kind.rawValue)" }.joined(separator: ", ")
        let job = report.replays > 0 ? "\(report.job) (replay \(report.replays))" : report.job
        return [Timestamp.text(report.at), report.kind.rawValue, job, url, rest].joined(separator: "  ")
    }
}
