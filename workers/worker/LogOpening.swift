internal import LogChoice
internal import Ports
internal import Settings
internal import Telemetry

/// Opens a worker's log, and reports once that the worker waits for brokers, and once that they respond.
///
/// With `--until-idle`, it does not wait: its caller would not learn that no job is done.
struct LogOpening {
    let settings: Settings
    let isPatient: Bool
    let logger: Logger
    let metrics: MetricsServer?
    let signals: StopSignals

    func open() async throws -> ChosenLog {
        let notice: @Sendable (String) -> Void = { [logger] in logger.notice("\($0)") }
        let detail: @Sendable (String) -> Void = { [logger] in logger.debug("\($0)") }
        guard isPatient else { return try await ChosenLog.open(settings, notice: notice, detail: detail) }
        var begun: ContinuousClock.Instant?
        // Until the log is open, no work is in progress that a stop would have to finish.
        signals.endsAtOnce = true
        defer { signals.endsAtOnce = false }
        let chosen = try await ChosenLog.openWhenItResponds(settings, notice: notice, detail: detail) { failure in
            if begun == nil {
                begun = .now
                logger.warning("The worker waits for the log.", ["reason": .string(failure.description)])
            } else {
                logger.debug("The log does not respond yet.")
            }
            metrics?.wait(for: failure, client: settings.workerName)
        }
        if let begun {
            logger.notice(
                "The log responds: the worker starts.",
                ["waited": .int((ContinuousClock.now - begun).components.seconds)])
        }
        return chosen
    }
}
