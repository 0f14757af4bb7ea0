internal import Clocks
internal import ImageModel
internal import Records

extension Findings {
    /// Number of failing hosts from which this side's network is suspected.
    private static let manyHosts = 5
    private static let leastJobs = 20
    private static let leastOfHost = 10

    /// Hosts that could not be reached and that jobs wait for, with the code of each. The code comes from the workers'
    /// rows of hosts, else from the jobs' own failures.
    private var unreachable: [String: String] {
        var codes: [String: String] = [:]
        for wait in report.waits where !wait.host.isEmpty {
            if let code = wait.code, Advice.unreachable.contains(code) { codes[wait.host] = code }
        }
        for host in report.blockedHosts ?? [] {
            guard let code = host.code, Advice.unreachable.contains(code), jobs(for: host.host) > 0 else { continue }
            codes[host.host] = code
        }
        return codes
    }

    /// Many hosts cannot be reached at once while none sends anything, so this side's network is the cause.
    var egress: Diagnosis? {
        let hosts = unreachable
        guard hosts.count >= Self.manyHosts else { return nil }
        let waits = report.waits.filter { hosts[$0.host] != nil }
        let reached = state.ends.tally(RecentEnds.newSpan, to: now).sending.subtracting(hosts.keys)
        guard holdsMost(waits, of: report.pending), reached.count * Self.manyHosts <= hosts.count else { return nil }
        let codes = Dictionary(grouping: hosts.values) { $0 }.sorted {
            ($1.value.count, $0.key) < ($0.value.count, $1.key)
        }
        let first = hosts.keys.min() ?? ""
        return Diagnosis(
            .egress,
            "\(Words.count(hosts.count)) hosts cannot be reached at once (\(codes.map(\.key).joined(separator: ", "))), \(Words.cut(first, 80)) among them, and \(reached.isEmpty ? "no host responds" : "hardly any host responds"): suspect this side's network, DNS or proxy, not the hosts. \(shareTitle(waits)).",
            since: waits.map(\.since).min())
    }

    /// Several hosts fail, and none of them has most of the pending jobs.
    var failingHosts: Diagnosis? {
        let blocked = Set(report.blockedHosts?.lazy.filter { $0.code != OriginRow.operatorName }.map(\.host) ?? [])
        let waits = report.waits.filter {
            !$0.host.isEmpty && (($0.code != nil && $0.reason == .host) || blocked.contains($0.host))
        }
        let hosts = Set(waits.map(\.host))
        guard hosts.count > 1, holdsMost(waits, of: report.pending),
            let worst = hosts.max(by: { (jobs(for: $0), $1) < (jobs(for: $1), $0) })
        else { return nil }
        let code = report.code(ofHost: worst)
        return Diagnosis(
            .hostsFail,
            "\(Words.count(hosts.count)) hosts fail: \(shareText(waits)) for them, most for \(Words.cut(worst, 100))\(code.map { " (\(Words.cut($0, 60)))" } ?? "").",
            since: waits.map(\.since).min(), action: code.flatMap { Advice.action($0, host: worst) })
    }

    /// Most jobs of the last half minute ended badly.
    private var mostEndBadly: Diagnosis? {
        failing(state.ends.tally(RecentEnds.newSpan, to: now), "half minute", over: 0.5)
    }

    var mostExpire: Diagnosis? { mostEndBadly?.only(.jobsExpire) }
    var mostFail: Diagnosis? { mostEndBadly?.only(.jobsFail) }

    /// A fifth of the jobs of the last five minutes ended badly, or all of the few that ended, or all of one host.
    var someFail: Diagnosis? {
        let tally = state.ends.tally(RecentEnds.span, to: now)
        if let found = failing(tally, "5 minutes", over: 0.2) { return found }
        if (3..<Self.leastJobs).contains(tally.jobs), let found = failing(tally, "5 minutes", over: 0.999, of: 3) {
            return found
        }
        guard let (host, jobs) = tally.hopelessHost(of: Self.leastOfHost) else { return nil }
        let own = tally.bad.filter { $0.key.host == host }
        guard let worst = Self.worst(own), own.keys.contains(where: { $0.kind != .dead }) else { return nil }
        return Diagnosis(
            .jobsFail,
            "All \(Words.count(jobs)) jobs of \(Words.cut(host, 100)) that ended in the last 5 minutes failed: \(Words.cut(worst.code, 60)).",
            since: nil, action: Advice.action(worst.code, host: host), example: example(of: worst))
    }

    private static func worst(_ bad: [RecentEnds.Key: Int]) -> RecentEnds.Key? {
        bad.max { ($0.value, $1.key.code, $1.key.host) < ($1.value, $0.key.code, $0.key.host) }?.key
    }

    private func failing(
        _ tally: RecentEnds.Tally, _ span: String, over share: Double, of least: Int = leastJobs
    ) -> Diagnosis? {
        // Dead letters have their own cause.
        let bad = tally.failed + tally.expired
        guard tally.jobs >= least, Double(bad) > share * Double(tally.jobs) else { return nil }
        let isExpiry = tally.expired > tally.failed
        let meant = tally.bad.filter { $0.key.kind == (isExpiry ? .expired : .failed) }
        guard let worst = Self.worst(meant) else { return nil }
        let count = isExpiry ? tally.expired : tally.failed
        let text =
            "\(Words.percent(Double(count), of: Double(tally.jobs))) of the jobs that ended in the last \(span) \(isExpiry ? "expired" : "failed") (\(Words.count(count)) of \(Words.count(tally.jobs)))"
        guard !isExpiry else { return Diagnosis(.jobsExpire, text + ".", since: nil, example: example(of: worst)) }
        let hosts = Set(meant.keys.lazy.filter { $0.code == worst.code }.map(\.host))
        let ofWorst = meant.filter { $0.key.code == worst.code }.values.reduce(0, +)
        let place =
            hosts.count > 1
            ? "\(Words.count(hosts.count)) hosts, \(Words.cut(worst.host, 100)) most" : Words.cut(worst.host, 100)
        let part = Words.percent(Double(ofWorst), of: Double(tally.failed))
        return Diagnosis(
            .jobsFail,
            "\(text): \(part == "100 %" ? "" : "\(part) of them by ")\(Words.cut(worst.code, 60)) at \(place).",
            since: nil, action: Advice.action(worst.code, host: hosts.count > 1 ? "" : worst.host),
            example: example(of: worst))
    }

    /// `Example: job 17, https://a.example/b.jpg: It answered 404.`
    func example(of key: RecentEnds.Key) -> String? {
        guard let end = state.ends.example(of: key) else { return nil }
        // Most messages name the URL.
        let url = end.url.isEmpty || end.message.contains(end.url) ? "" : ", \(Words.cut(end.url, 120))"
        return "Example: job \(Words.cut(end.job, 80))\(url)\(key.kind == .expired ? "." : Words.detail(end.message))"
    }

    /// A late lane that no cause above explains. Its late jobs failed, or wait for a host, and are a small part of the
    /// pending ones.
    var retrying: Diagnosis? {
        guard let lane = report.lanes.first(where: { $0.isLate(at: now) }) else { return nil }
        let own = report.waits.filter { $0.lane == lane.lane.rawValue }
        let late = own.filter { now - $0.since > lane.target }
        guard let first = late.first(where: { $0.code != nil }) ?? late.first ?? own.first else { return nil }
        let isOne = Int(first.jobs.rounded()) == 1
        let host = first.host.isEmpty ? "" : " of \(Words.cut(first.host, 100))"
        let isPaused = report.pausedHosts.contains(first.host)
        let code = isPaused ? nil : first.code ?? report.code(ofHost: first.host)
        let state =
            first.code == nil || isPaused ? "wait\(isOne ? "s" : "")" : "failed and \(isOne ? "is" : "are") retried"
        let reason = isPaused ? "by an operator" : code.map { Words.cut($0, 60) }
        return Diagnosis(
            .retrying,
            "\(jobsText([first]))\(host) \(state)\(reason.map { " (\($0))" } ?? "")\(Words.detail(first.message))",
            since: first.since,
            action: isPaused ? Advice.unblock(first.host) : code.flatMap { Advice.action($0, host: first.host) })
    }
}
