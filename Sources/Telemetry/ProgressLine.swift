/// One line that says how far something has come: rewritten in place on a terminal, now and then a line elsewhere.
package final class ProgressLine {
    private let output: LogOutput
    /// Where lines pile up, only each of so many updates is one.
    private let every: Int
    private var updates = 0

    package init(to output: LogOutput = .standardError, every: Int = 10) { (self.output, self.every) = (output, every) }

    package func update(_ text: String) {
        updates += 1
        if output.isTerminal || updates % every == 0 { output.show(progress: text) }
    }

    package func finish() { output.endProgress() }
}
