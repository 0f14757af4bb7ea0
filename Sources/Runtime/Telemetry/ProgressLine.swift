/// One line of progress: rewritten in place on a terminal, and logged now and then elsewhere.
///
/// - Concurrency: one owner; the output itself may be shared.
package final class ProgressLine {
    private let logger: Logger
    /// Minimum time between two updates.
    private let interval: Duration
    private let elapsed: () -> Duration
    private var next: Duration = .zero
    /// Last text that came too soon, kept for the end.
    private var held: (text: String, fields: Logger.Metadata)?

    /// - Parameter interval: nil is a tenth of a second on a terminal, and ten seconds elsewhere, where lines pile up.
    package init(
        to logger: Logger, interval: Duration? = nil, clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.logger = logger
        self.interval = interval ?? (logger.output.isTerminal ? .milliseconds(100) : .seconds(10))
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
    }

    /// Shows `text` if an update is due; the first text always.
    ///
    /// - Parameter fields: the same content for machines.
    package func update(_ text: @autoclosure () -> String, _ fields: @autoclosure () -> Logger.Metadata = [:]) {
        let now = elapsed()
        guard now >= next else { return held = (text(), fields()) }
        next = now + interval
        held = nil
        show(text(), fields())
    }

    /// Shows the text that was kept back, and leaves the line on the terminal.
    package func finish() {
        if let held { show(held.text, held.fields) }
        held = nil
        logger.output.endProgress()
    }

    private func show(_ text: String, _ fields: Logger.Metadata) {
        if logger.output.isTerminal { logger.output.show(progress: text) } else { logger.info(text, fields) }
    }
}
