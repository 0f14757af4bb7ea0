extension Findings {
    /// By what workers say that fails now; without their word by what most retries wait for.
    var halted: Diagnosis? {
        typealias Reason = WatchReport.WaitReport.Reason
        let kinds: [(Reason, Cause, String)] = [
            (.store, .storeHalted, "The store holds"), (.renderer, .rendererHalted, "The renderers hold"),
        ]
        for (reason, cause, subject) in kinds {
            let failing = report.workers.flatMap { worker in
                worker.failedAt.filter { Reason(code: $0.key) == reason && now - $0.value < Self.haltMilliseconds }
            }
            let waits = retries { $0 == reason }
            guard let code = failing.max(by: { $0.value < $1.value })?.key ?? dominant(waits)?.code else { continue }
            let message = waits.first { !$0.message.isEmpty }?.message
            let jobs = waits.isEmpty ? "" : ", \(jobsText(waits)) wait for it"
            return Diagnosis(
                cause, "\(subject) jobs back (\(code))\(jobs)\(message.map { ": " + Words.cut($0) } ?? ".")",
                since: waits.map(\.since).min())
        }
        return nil
    }

    var blockedHost: Diagnosis? {
        guard let hosts = report.blockedHosts?.filter({ $0.until > now }),
            let host = hosts.max(by: { jobs(for: $0.host) < jobs(for: $1.host) })
        else { return nil }
        let waits = report.waits.filter { $0.host == host.host }
        let share = waits.isEmpty ? "" : ": \(shareText(waits)) waits for it"
        return Diagnosis(
            .hostBlocked,
            "\(Words.cut(host.host, 100)) (\(host.code)) is blocked until \(Words.clock(host.until))\(share).",
            since: waits.map(\.since).min())
    }

    var waitingHost: Diagnosis? {
        guard let (waits, host, code) = dominantHost(.host) else { return nil }
        return Diagnosis(
            .hostBlocked,
            "\(shareText(waits)) waits for \(Words.cut(host, 100)) (\(code))\(Words.detail(waits.first?.message))",
            since: waits.map(\.since).min())
    }

    /// By deadlines that passed; or by fetch permits that one host of a late lane uses up while renderers have room.
    var slowHost: Diagnosis? {
        if let (waits, host, code) = dominantHost(.hostSlow) {
            return Diagnosis(
                .hostSlow, "\(Words.cut(host, 100)) answers slowly: \(shareText(waits)) waits for it (\(code)).",
                since: waits.map(\.since).min())
        }
        let figures = report.workers.compactMap(\.figures)
        guard !figures.isEmpty, isLate,
            figures.allSatisfy({ figures in
                guard let used = figures.fetchPermits.used, let all = figures.fetchPermits.all,
                    let rendering = figures.renderPermits.used, let renderers = figures.renderPermits.all
                else { return false }
                // One host may hold half of them.
                return used * 2 >= all && rendering < renderers
            })
        else { return nil }
        let turns = report.waits.filter { $0.reason == .turn && !$0.host.isEmpty }
        let byHost = Dictionary(grouping: turns, by: \.host)
        let all = turns.reduce(0) { $0 + $1.jobs }
        guard let (host, waits) = byHost.max(by: { sum($0.value) < sum($1.value) }), sum(waits) >= Self.dominance * all
        else { return nil }
        return Diagnosis(
            .hostSlow,
            "\(Words.cut(host, 100)) answers slowly: \(shareText(waits)) waits for it, it uses the fetch permits that it may, and renderers are idle.",
            since: waits.map(\.since).min())
    }
}
