import Telemetry
import Testing

@Suite("The progress line", .timeLimit(.minutes(1)))
struct ProgressLineTests {
    private static let clear = "\r\u{1B}[K"

    @Test("On a terminal it is rewritten, no more often than its interval")
    func throttled() throws {
        let captured = try Captured(isTerminal: true)
        let clock = ManualClock()
        let line = ProgressLine(to: Logger(level: .info, to: captured.output), clock: clock)
        var made = 0
        line.update("1")
        for i in 2...50 {
            clock.advance(by: .milliseconds(10))
            line.update({ made += 1; return "\(i)" }())
        }
        #expect(captured.text == ["1", "11", "21", "31", "41"].map { Self.clear + $0 }.joined())
        line.finish()
        #expect(captured.text.hasSuffix(Self.clear + "50\n"))
    }

    @Test("Elsewhere it is now and then a record of the log, with fields, and the last one is not lost")
    func lines() throws {
        let captured = try Captured(isTerminal: false)
        let clock = ManualClock()
        let line = ProgressLine(to: Logger(level: .info, to: captured.output), clock: clock)
        for second in Int64(0)..<25 {
            line.update("\(second) s", ["jobs": .int(second)])
            clock.advance(by: .seconds(1))
        }
        line.finish()
        line.finish()
        #expect(
            captured.lines
                == [0, 10, 20, 24].map {
                    "{\"ts\":\"2026-11-21T10:28:36.007Z\",\"level\":\"info\",\"msg\":\"\($0) s\",\"jobs\":\($0)}"
                })
    }

    @Test("Elsewhere nothing is said of it below the log's level")
    func quiet() throws {
        let captured = try Captured(isTerminal: false)
        let line = ProgressLine(to: Logger(level: .warning, to: captured.output))
        line.update("half")
        line.update("whole")
        line.finish()
        #expect(captured.text.isEmpty)
    }

    @Test("A log line stands above the progress, which is drawn again")
    func together() throws {
        let captured = try Captured(isTerminal: true)
        let line = ProgressLine(to: Logger(level: .info, to: captured.output))
        line.update("half")
        Logger(level: .info, to: captured.output).info("Hello.")
        line.finish()
        Logger(level: .info, to: captured.output).info("Bye.")
        #expect(captured.text == "\(Self.clear)half\(Self.clear)10:28:36 Hello.\nhalf\n10:28:36 Bye.\n")
    }

    @Test("It never wraps, and never drives the terminal")
    func bounded() throws {
        let captured = try Captured(isTerminal: true)
        ProgressLine(to: Logger(level: .info, to: captured.output)).update("\u{1B}[2J" + String(repeating: "x", count: 500))
        #expect(captured.text.hasPrefix(Self.clear + #"\u001b[2Jx"#))
        #expect(captured.text.count < 100)
    }
}
