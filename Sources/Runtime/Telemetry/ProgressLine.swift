/// One line that says how far something has come: rewritten in place on a terminal, now and then a record of the log
/// elsewhere.
///
/// - Concurrency: one owner; the output itself may be shared.
package final class ProgressLine {
    private let logger: Logger
    /// Between two showings.
    private let interval: Duration
    private let elapsed: () -> Duration
    private var next: Duration = .zero
    /// The last text that came too soon, for the end.
    private var held: (text: String, fields: Logger.Metadata)?

    /// - Parameter interval: nil is a tenth of a second on a terminal, ten seconds elsewhere, where lines pile up.
    package init(
        to logger: Logger, interval: Duration? = nil, clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.logger = logger
        self.interval = interval ?? (logger.output.isTerminal ? .milliseconds(100) : .seconds(10))
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
    }

    /// Shows `text` if it is time; the first one always.
    ///
    /// - Parameter fields: the same for machines.
    package func update(_ text: @autoclosure () -> String, _ fields: @autoclosure () -> Logger.Metadata = [:]) {
        let now = elapsed()
        guard now >= next else { return held = (text(), fields()) }
        next = now + interval
        held = nil
        show(text(), fields())
    }

    /// Shows what was held back, and leaves the line standing.
    package func finish() {
        if let held { show(held.text, held.fields) }
        held = nil
        logger.output.endProgress()
    }

    private func show(_ text: String, _ fields: Logger.Metadata) {
        if logger.output.isTerminal { logger.output.show(progress: text) } else { logger.info(text, fields) }
    }
}
