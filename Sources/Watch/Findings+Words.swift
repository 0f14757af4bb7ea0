internal import ImageModel

extension Findings {
    /// `Fast is late: the oldest waits 4 min 12 s (target 5 s), growing by 31/s.`
    var lanes: [String] {
        report.lanes.map { lane in
            let name = lane.lane.title
            let unknown = lane.lag.unknown > 0 ? " (\(Words.counted(lane.lag.unknown, "partition")) left out)" : ""
            guard let records = lane.lag.records else { return "\(name) is not known\(unknown)." }
            let retried = lane.retriedText(at: now)
            guard records > 0 else {
                return "\(name) has nothing \(retried.isEmpty ? "" : "new ")to do\(unknown)\(retried)."
            }
            let oldest =
                lane.lag.oldest.map { "the oldest waits \(Words.span(now - $0))" } ?? "for how long is not known"
            var text = lane.isLate(at: now) ? "\(name) is late: " : "\(name): "
            text += "\(Words.count(Int(records))) wait\(records == 1 ? "s" : ""), \(oldest) "
            text += "(target \(Words.span(lane.target)))"
            if lane.isLate(at: now), let rates = lane.rates, rates.in - rates.out >= 0.1 {
                text += ", growing by \(Words.rate(rates.in - rates.out))/s"
            } else if lane.isLate(at: now), let drain = lane.drainMilliseconds {
                text += ", drained in \(Words.span(drain)) at this rate"
            }
            return text + unknown + retried + "."
        }
    }

    var isLate: Bool { report.lanes.contains { $0.isLate(at: now) } }

    /// What was so at the first look may have been so for days.
    func unownedText(_ since: Int64?) -> String {
        since.map { "\($0 == state.ownersKnownSince ? " at least" : "") since \(Words.clock($0))" } ?? ""
    }

    func retries(_ isWanted: (WatchReport.WaitReport.Reason) -> Bool) -> [WatchReport.WaitReport] {
        report.waits.filter { $0.code != nil && isWanted($0.reason) }
    }

    func sum(_ waits: [WatchReport.WaitReport]) -> Double { waits.reduce(0) { $0 + $1.jobs } }

    /// The largest of these, where they are most of what is tried again.
    func dominant(_ waits: [WatchReport.WaitReport]) -> WatchReport.WaitReport? {
        holdsMost(waits, of: retries { _ in true }) ? waits.first : nil
    }

    func holdsMost(_ waits: [WatchReport.WaitReport], of all: [WatchReport.WaitReport]) -> Bool {
        sum(waits) > 0 && sum(waits) >= Self.dominance * sum(all)
    }

    func dominantHost(
        _ reason: WatchReport.WaitReport.Reason
    ) -> (waits: [WatchReport.WaitReport], host: String, code: String)? {
        let byHost = Dictionary(grouping: retries { $0 == reason }.filter { !$0.host.isEmpty }, by: \.host)
        guard let (host, waits) = byHost.max(by: { (sum($0.value), $1.key) < (sum($1.value), $0.key) }),
            let code = dominant(waits)?.code
        else { return nil }
        return (waits, host, code)
    }

    func jobsText(_ waits: [WatchReport.WaitReport]) -> String {
        let count = Int(sum(waits).rounded())
        let isEstimate = waits.contains(where: \.isEstimate)
        return "\(isEstimate ? "about " : "")\(Words.counted(count, "job"))"
    }

    /// `82 % of what waits (about 1,240 jobs)`.
    func shareText(_ waits: [WatchReport.WaitReport]) -> String {
        let all = sum(report.waits)
        return "\(Int((100 * sum(waits) / max(all, 1)).rounded())) % of what waits (\(jobsText(waits)))"
    }
}
