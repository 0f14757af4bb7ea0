internal import Records

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

    /// A person has blocked it (`mezzotint origins block`).
    var paused: Diagnosis? { blocked(.paused, why: "by a person") { $0.code == OriginRow.operatorName } }

    var blockedHost: Diagnosis? { blocked(.hostBlocked) { $0.code != OriginRow.operatorName } }

    /// Of those that workers leave alone the one that most waits for; one of many with little to do is no cause.
    private func blocked(
        _ cause: Cause, why: String? = nil, _ isMeant: (OriginSummary) -> Bool
    ) -> Diagnosis? {
        let hosts = report.blockedHosts?.filter(isMeant)
        guard let host = hosts?.max(by: { jobs(for: $0.host) < jobs(for: $1.host) }) else { return nil }
        let waits = report.waits.filter { $0.host == host.host }
        guard holdsMost(waits, of: report.waits), let until = host.until else { return nil }
        return Diagnosis(
            cause,
            "\(Words.cut(host.host, 100)) (\(why ?? Words.cut(host.code ?? "unknown", 60))) is blocked until \(Words.clock(until)): \(shareText(waits)) waits for it.",
            since: host.since ?? waits.map(\.since).min())
    }

    var waitingHost: Diagnosis? {
        guard let (waits, host, code) = dominantHost(.host) else { return nil }
        return Diagnosis(
            .hostBlocked,
            "\(shareText(waits)) waits for \(Words.cut(host, 100)) (\(code))\(Words.detail(waits.first?.message))",
            since: waits.map(\.since).min())
    }

    /// By deadlines that passed, by jobs that could not even be kept in memory; or by a host that a late lane waits for most,
    /// while it is asked as often at once as it may be.
    var slowHost: Diagnosis? {
        if let (waits, host, code) = dominantHost(.hostSlow) {
            return Diagnosis(
                .hostSlow, "\(Words.cut(host, 100)) answers slowly: \(shareText(waits)) waits for it (\(code)).",
                since: waits.map(\.since).min())
        }
        guard isLate,
            let host = report.hosts?.filter({ $0.limit > 0 && $0.inFlight >= $0.limit }).max(by: {
                jobs(for: $0.host) < jobs(for: $1.host)
            })
        else { return nil }
        let waits = report.waits.filter { $0.host == host.host }
        guard holdsMost(waits, of: report.waits) else { return nil }
        return Diagnosis(
            .hostSlow,
            "\(Words.cut(host.host, 100)) answers slowly: \(shareText(waits)) waits for it, and it is asked \(host.inFlight) at once, which is all that it may be.",
            since: waits.map(\.since).min())
    }
}
