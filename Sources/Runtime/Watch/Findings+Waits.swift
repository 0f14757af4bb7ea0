internal import Clocks
internal import Ports
internal import Records

extension Findings {
    private typealias Reason = WatchReport.WaitReport.Reason
    /// Workers repeat it as long as a partition is stopped.
    var recreatedTopic: Diagnosis? {
        let code = LogFailure.Code.recreated.rawValue
        let worker = report.workers.first { worker in
            worker.failedAt[code].map { (worker.silence?.since ?? now) - $0 < Self.haltTime } ?? false
        }
        return worker.map {
            Diagnosis(
                .topicRecreated,
                "The worker at \(Words.cut($0.address, 80)) reads a topic that was recreated or truncated (\(code)).",
                since: nil)
        }
    }
    var foreignStore: Diagnosis? { failingStore?.only(.storeMismatch) }
    var failingStore: Diagnosis? { failing(.store) }
    var failingRenderers: Diagnosis? { failing(.renderer) }
    var haltedStore: Diagnosis? { halted(.store) }
    var haltedRenderers: Diagnosis? { halted(.renderer) }

    /// A failure of the store or of renderers that workers report now, or reported before they fell silent: it explains
    /// their silence.
    private func failing(_ reason: Reason) -> Diagnosis? {
        let codes = report.workers.flatMap { worker in
            worker.failedAt.filter {
                Reason(code: $0.key) == reason && (worker.silence?.since ?? now) - $0.value < Self.haltTime
            }
        }
        let code = codes.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
        return code.map { halted(reason, $0, retries { $0 == reason }) }
    }

    /// The part that most retries wait for.
    private func halted(_ reason: Reason) -> Diagnosis? {
        let waits = retries { $0 == reason }
        return dominant(waits)?.code.map { halted(reason, $0, waits) }
    }

    private func halted(_ reason: Reason, _ code: String, _ waits: [WatchReport.WaitReport]) -> Diagnosis {
        let message = waits.first { !$0.message.isEmpty }?.message
        let jobs = waits.isEmpty ? "" : ", \(jobsText(waits)) wait for it"
        let since = waits.map(\.since).min()
        if code == "store.mismatched" {
            return Diagnosis(
                .storeMismatch,
                "A worker's store is not the one that the log's rows are bound to (\(code))\(jobs)\(Words.detail(message))",
                since: since)
        }
        let isStore = reason == .store
        let subject =
            !isStore ? "The renderers hold" : code.hasPrefix("log.") ? "The log's disk holds" : "The store holds"
        return Diagnosis(
            isStore ? .storeHalted : .rendererHalted,
            "\(subject) jobs back (\(Words.cut(code, 60)))\(jobs)\(Words.detail(message))",
            since: since, action: Advice.action(code))
    }

    /// A store that neither accepts files nor fails. No failure is counted then, and workers have all their permits in
    /// it.
    var hungStore: Diagnosis? {
        var worst: (age: Duration, headline: String)?
        for worker in report.workers where worker.silence == nil {
            for (name, subject, verb) in Self.storeSteps {
                guard let step = worker.figures?.steps[name], let age = step.oldest,
                    age >= max(Self.hungTime, worst?.age ?? .zero)
                else { continue }
                let count = step.sources ?? 1
                let sources = count == 1 ? "the source" : "the oldest of \(Words.count(count)) sources"
                worst = (
                    age,
                    "\(subject) not respond: \(sources) that the worker at \(Words.cut(worker.address, 80)) \(verb) has made no progress for \(Words.span(age))."
                )
            }
        }
        return worst.map {
            Diagnosis(
                .storeHalted, $0.headline, since: now - $0.age,
                action:
                    "Check the disk, share or service of the store (and the disk of data): its mount, its server, dmesg. While it hangs, a restart of the worker does not help. Jobs continue by themselves when it responds."
            )
        }
    }

    private static let storeSteps = [
        ("store", "The store does", "is storing"), ("look", "The store or the disk of data does", "is looking up"),
    ]

    /// A pause holds back most pending jobs.
    var pausedMost: Diagnosis? { holdsMost(pausedWaits, of: report.pending) ? pausedSome : nil }

    private var pausedWaits: [WatchReport.WaitReport] { report.waits.filter { $0.reason == .paused } }

    /// A pause is active, whether jobs wait for it or not.
    var pausedSome: Diagnosis? {
        guard let last = report.pauses.last else { return nil }
        let others = report.pauses.count > 1 ? ", and \(Words.counted(report.pauses.count - 1, "more pause")) \(report.pauses.count == 2 ? "is" : "are") active" : ""
        let waits = pausedWaits
        return Diagnosis(
            .paused,
            "\(last.words(at: now))\(others): \(waits.isEmpty ? "no job waits for that yet" : shareText(waits)).",
            since: report.pauses.map(\.since).min(), action: Advice.resume(last.scope))
    }

    /// An operator has blocked the host (`mezzotint origins block`).
    var blockedByOperator: Diagnosis? { blocked(.paused, why: "by an operator") { $0.code == OriginRow.operatorName } }

    var blockedHost: Diagnosis? { blocked(.hostBlocked) { $0.code != OriginRow.operatorName } }

    /// The blocked host with the largest backlog. A blocked host with a small share of the backlog is no cause.
    private func blocked(
        _ cause: Cause, why: String? = nil, _ isMeant: (OriginSummary) -> Bool
    ) -> Diagnosis? {
        let hosts = report.blockedHosts?.filter(isMeant)
        guard let host = hosts?.max(by: { jobs(for: $0.host) < jobs(for: $1.host) }) else { return nil }
        let waits = report.waits.filter { $0.host == host.host }
        guard holdsMost(waits, of: report.pending), let until = host.until else { return nil }
        let name = Words.cut(host.host, 100)
        let action =
            cause == .paused
            ? Advice.unblock(host.host) : host.code.flatMap { Advice.action($0, host: host.host) }
        return Diagnosis(
            cause,
            "\(name) (\(why ?? Words.cut(host.code ?? "unknown", 60))) is blocked until \(clock(until)): \(shareText(waits)) for it.",
            since: host.since ?? waits.map(\.since).min(), action: action)
    }

    var waitingHost: Diagnosis? {
        guard let (waits, host, reason) = dominantHost(.host) else { return nil }
        // The end of its block, which its jobs wait for, shows nothing about the host.
        let code = report.code(ofHost: host) ?? reason
        return Diagnosis(
            .hostBlocked,
            "\(shareTitle(waits)) for \(Words.cut(host, 100)) (\(Words.cut(code, 60)))\(Words.detail(waits.first?.message))",
            since: waits.map(\.since).min(), action: Advice.action(code, host: host))
    }

    /// The host missed deadlines, or most jobs wait for its full limit while renderers are idle.
    var slowHost: Diagnosis? {
        if let (waits, host, code) = dominantHost(.hostSlow) {
            return Diagnosis(
                .hostSlow,
                "\(Words.cut(host, 100)) responds slowly (\(Words.cut(code, 60))): \(shareText(waits)) for it.",
                since: waits.map(\.since).min(), action: Advice.action(code, host: host))
        }
        guard isLate, report.hasIdleRenderers,
            let host = report.hosts?.filter({ $0.limit > 0 && $0.inFlight >= $0.limit }).max(by: {
                jobs(for: $0.host) < jobs(for: $1.host)
            })
        else { return nil }
        let waits = report.waits.filter { $0.host == host.host }
        guard holdsMost(waits, of: report.pending) else { return nil }
        return Diagnosis(
            .hostSlow,
            "\(Words.cut(host.host, 100)) is slow, or its limit is low: \(shareText(waits)) for it, its limit of \(Words.count(host.limit)) fetch\(host.limit == 1 ? "" : "es") at once is full, and renderers are idle.",
            since: waits.map(\.since).min())
    }
}
