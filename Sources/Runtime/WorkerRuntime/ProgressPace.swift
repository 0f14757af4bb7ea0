internal import Telemetry

/// The worker's progress as one line, with an estimate of the remaining time from the jobs of the last ten seconds.
package struct ProgressPace {
    /// Seconds that the estimate looks back.
    private static let span = 10.0

    /// Ended jobs at past times, the oldest first: one sample older than `span`, and those after it.
    private var samples: [(seconds: Double, jobs: Int)] = [(0, 0)]

    package init() {}

    /// - Parameters:
    ///   - saved: number of fetches saved.
    ///   - left: number of jobs that are not finished.
    ///   - parked: number of parked jobs among them; nil once the worker has ended, which needs no estimate.
    ///   - seconds: time since the start.
    package mutating func text(
        jobs: Int, variants: Int, saved: Int, left: Int64, parked: Int64?, seconds: Double
    ) -> String {
        samples.append((seconds, jobs))
        while samples.count > 2, samples[1].seconds <= seconds - Self.span { samples.removeFirst() }
        let rate = Figure.text(Double(variants) / max(seconds, 0.001), digits: 1)
        return "\(Self.count(jobs, "job")) done, \(Self.count(variants, "variant")) (\(rate)/s), "
            + "\(Self.count(saved, "fetch", "fetches")) saved, \(left) pending"
            + (parked.map { ($0 > 0 ? ", \($0) of them parked" : "") + estimate(left, $0, seconds) } ?? "")
    }

    private func estimate(_ left: Int64, _ parked: Int64, _ seconds: Double) -> String {
        let ready = left - parked
        guard ready > 0, let last = samples.last else { return "" }
        let (done, span) = (last.jobs - samples[0].jobs, seconds - samples[0].seconds)
        guard done > 0, span > 0 else { return seconds < Self.span ? "" : ", none done in the last 10 s" }
        let rest = Int((Double(ready) * span / Double(done)).rounded(.up))
        return ", about \(rest) s left" + (parked > 0 ? " for the others" : "")
    }

    private static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(number) " + (number == 1 ? one : many ?? one + "s")
    }
}
