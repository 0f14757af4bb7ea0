/// One line that says how far something has come: rewritten in place on a terminal, now and then a line elsewhere.
///
/// - Concurrency: one owner; the output itself may be shared.
package final class ProgressLine {
    private let output: LogOutput
    /// Between two showings.
    private let interval: Duration
    private let elapsed: () -> Duration
    private var next: Duration = .zero
    /// The last text that came too soon, for the end.
    private var held: String?

    /// - Parameter interval: nil is a tenth of a second on a terminal, ten seconds elsewhere, where lines pile up.
    package init(
        to output: LogOutput = .standardError, interval: Duration? = nil, clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.output = output
        self.interval = interval ?? (output.isTerminal ? .milliseconds(100) : .seconds(10))
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
    }

    /// Shows `text` if it is time; the first one always.
    package func update(_ text: @autoclosure () -> String) {
        let now = elapsed()
        guard now >= next else { return held = text() }
        next = now + interval
        held = nil
        output.show(progress: text())
    }

    /// Shows what was held back, and leaves the line standing.
    package func finish() {
        if let held { output.show(progress: held) }
        held = nil
        output.endProgress()
    }
}
