internal import Clocks
internal import ImageModel

extension Findings {
    /// `Fast is late: 40 pending, the oldest for 4 min 12 s (target 5 s), growing by 31/s.`
    var lanes: [String] { report.lanes.map(text) }

    private func text(_ lane: WatchReport.LaneReport) -> String {
        let name = lane.lane.title
        let unknown = lane.lag.unknown > 0 ? " (\(Words.counted(lane.lag.unknown, "partition")) left out)" : ""
        let isLate = lane.isLate(at: now)
        guard let unread = lane.lag.records else {
            return isLate ? "\(name) is late, and not known whole\(unknown)." : "\(name) is not known\(unknown)."
        }
        let parked = lane.parked?.jobs ?? 0
        guard unread > 0 || parked > 0 else {
            return lane.parked == nil
                ? "\(name) has nothing new to do\(unknown); how many jobs are parked is not known."
                : "\(name) has nothing to do\(unknown)."
        }
        var text = isLate ? "\(name) is late: " : "\(name): "
        text += "\(lane.parked?.isEstimate == true ? "~" : "")\(Words.count(Int(unread) + parked)) pending"
        if !lane.parkedText.isEmpty { text += " (\(lane.parkedText))" }
        text += lane.age(at: now).map { ", the oldest for \(Words.span($0)) " } ?? ", for how long is not known "
        text += "(target \(Words.span(lane.target)))"
        if isLate, let rates = lane.rates, rates.in - rates.out >= 0.1 {
            text += ", growing by \(Words.rate(rates.in - rates.out))/s"
        } else if isLate, openTransaction == nil, let drain = lane.drainTime {
            text += ", drained in \(Words.span(drain)) at this rate"
        }
        return text + unknown + "."
    }

    var isLate: Bool { report.lanes.contains { $0.isLate(at: now) } }

    /// Lanes that are late with jobs that no origin holds back.
    var readyLate: [WatchReport.LaneReport] { report.lanes.filter { $0.isReadyLate(at: now) } }

    func clock(_ time: WallTime) -> String { Words.clock(time, at: now) }

    /// A state found at the first poll may have lasted for days.
    func sinceText(_ since: WallTime?) -> String {
        since.map { " since\($0 == state.ownersKnownSince ? " at least" : "") \(clock($0))" } ?? ""
    }

    func retries(_ isWanted: (WatchReport.WaitReport.Reason) -> Bool) -> [WatchReport.WaitReport] {
        report.waits.filter { $0.code != nil && isWanted($0.reason) }
    }

    func sum(_ waits: [WatchReport.WaitReport]) -> Double { waits.reduce(0) { $0 + $1.jobs } }

    /// The largest of these, if they are most of the retried jobs: jobs that a halted part holds back do not stay
    /// unread.
    func dominant(_ waits: [WatchReport.WaitReport]) -> WatchReport.WaitReport? {
        holdsMost(waits, of: sum(retries { _ in true })) ? waits.first : nil
    }

    func holdsMost(_ waits: [WatchReport.WaitReport], of all: Double) -> Bool {
        sum(waits) > 0 && sum(waits) >= Self.dominance * all
    }

    /// The host with the most jobs that are retried for this reason, if it has most of all pending jobs.
    func dominantHost(
        _ reason: WatchReport.WaitReport.Reason
    ) -> (waits: [WatchReport.WaitReport], host: String, code: String)? {
        let byHost = Dictionary(grouping: retries { $0 == reason }.filter { !$0.host.isEmpty }, by: \.host)
        guard let (host, waits) = byHost.max(by: { (sum($0.value), $1.key) < (sum($1.value), $0.key) }),
            holdsMost(waits, of: report.pending), let code = waits.first?.code
        else { return nil }
        return (waits, host, code)
    }

    func jobsText(_ waits: [WatchReport.WaitReport]) -> String {
        let count = Int(sum(waits).rounded())
        let isEstimate = waits.contains(where: \.isEstimate)
        return "\(isEstimate ? "about " : "")\(Words.counted(count, "job"))"
    }

    /// `about 1,240 of 1,500 pending jobs (83 %) wait`, `all 3 pending jobs wait`: unread and retried jobs together.
    func shareText(_ waits: [WatchReport.WaitReport]) -> String {
        let (jobs, pending) = (Int(sum(waits).rounded()), Int(max(report.pending, sum(waits)).rounded()))
        let about = waits.contains(where: \.isEstimate) ? "about " : ""
        guard jobs < pending else {
            if jobs == 1 { return "the only pending job waits" }
            return about.isEmpty
                ? "all \(Words.count(jobs)) pending jobs wait" : "all pending jobs (about \(Words.count(jobs))) wait"
        }
        let share = Words.percent(Double(jobs), of: Double(pending))
        return
            "\(about)\(Words.count(jobs)) of \(Words.count(pending)) pending jobs (\(share)) \(jobs == 1 ? "waits" : "wait")"
    }

    /// The same text at the beginning of a sentence.
    func shareTitle(_ waits: [WatchReport.WaitReport]) -> String {
        let text = shareText(waits)
        return text.prefix(1).uppercased() + text.dropFirst()
    }
}
