import Foundation
import Telemetry
import TestSupport
import Testing

@Suite("The log", .timeLimit(.minutes(1)))
struct LoggerTests {
    @Test("Beside a terminal, a line is one JSON object with typed fields")
    func json() throws {
        let captured = try Captured(isTerminal: false)
        Logger(level: .info, to: captured.output).warning(
            "The \"origin\"\nis slow.", ["partition": 3, "seconds": 1.5, "last": true, "host": .string("a\u{1B}[2J")])
        #expect(
            captured.text == #"{"ts":"2026-11-21T10:28:36.007Z","level":"warning","msg":"The \"origin\"\nis slow.","#
                + #""partition":3,"seconds":1.5,"last":true,"host":"a\u001b[2J"}"# + "\n")
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(captured.text.utf8)) }
    }

    @Test("On a terminal, a line is for people")
    func readable() throws {
        let captured = try Captured(isTerminal: true)
        let logger = Logger(level: .trace, to: captured.output)
        logger.info("Ready.", ["jobs": 3])
        logger.error("No space.")
        #expect(captured.lines == ["10:28:36 Ready. jobs=3", "10:28:36 ERROR No space."])
    }

    @Test("The next process finds the last line, or the reason of the end")
    func last() throws {
        let folder = try TemporaryFolder()
        let path = folder.url.appending(path: "last-line").path
        func run(_ body: (LogOutput) -> Void) throws -> String {
            let captured = try Captured(isTerminal: false)
            let last = try #require(LastLine(path: path))
            captured.output.keep(in: last)
            body(captured.output)
            last.flush()
            return last.before
        }
        let long = String(repeating: "é", count: 800)
        #expect(try run { Logger(level: .debug, to: $0).error("\(long)\nNo space.") } == "")
        #expect(
            try run {
                let logger = Logger(level: .debug, to: $0)
                logger.warning("The disk\nis full.", ["folder": "data"])
                logger.debug("A detail.")
            }.hasPrefix("10:28:36 ERROR ééé"))
        #expect(try run { _ in } == #"10:28:36 WARNING The disk\u000ais full. folder=data"#)
        #expect(
            try run { $0.end(with: "The log is not there.") } == #"10:28:36 WARNING The disk\u000ais full. folder=data"#)
        #expect(try run { $0.end(with: nil) } == "10:28:36 The log is not there.")
        #expect(try run { _ in } == "")
        #expect(LastLine(path: folder.url.path) == nil)
    }

    @Test(
        "Nothing that is logged drives the terminal",
        arguments: [
            "\u{1B}[2J", "\u{7F}", "\u{9B}2J", "\r", "\n", "\t", "\u{0}", "\u{8}", "\u{202E}", "\u{2066}", "\u{2028}",
            "\u{61C}",
        ], [true, false])
    func harmless(text: String, isTerminal: Bool) throws {
        let captured = try Captured(isTerminal: isTerminal)
        Logger(level: .info, to: captured.output).info("a\(text)b", ["url": .string("c\(text)d")])
        let shown = captured.text.dropLast().unicodeScalars
        #expect(!shown.contains { $0.value < 0x20 || text.unicodeScalars.first == $0 })
        #expect(captured.text.contains("a\\") && captured.text.contains("c\\"))
        guard !isTerminal else { return }
        let line = try JSONSerialization.jsonObject(with: Data(captured.text.utf8)) as? [String: Any]
        #expect(line?["msg"] as? String == "a\(text)b")
    }

    @Test("What is below the level is not even made", arguments: Logger.Level.allCases)
    func levels(level: Logger.Level) throws {
        let captured = try Captured(isTerminal: false)
        let logger = Logger(level: level, to: captured.output)
        var made = 0
        func message() -> String {
            made += 1
            return "m"
        }
        func fields() -> Logger.Metadata {
            made += 1
            return ["a": 1]
        }
        logger.trace(message(), fields())
        logger.debug(message(), fields())
        logger.info(message(), fields())
        logger.notice(message(), fields())
        logger.warning(message(), fields())
        logger.error(message(), fields())
        logger.critical(message(), fields())
        let wanted = Logger.Level.allCases.filter { $0 >= level }
        #expect(made == 2 * wanted.count)
        #expect(captured.lines.count == wanted.count)
        #expect(zip(captured.lines, wanted).allSatisfy { $0.contains("\"level\":\"\($1.rawValue)\"") })
    }

    @Test("A logger's own fields stand in every line, before the line's")
    func metadata() throws {
        let captured = try Captured(isTerminal: true)
        var logger = Logger(level: .info, to: captured.output)
        logger[metadataKey: "partition"] = 3
        logger[metadataKey: "epoch"] = 1
        logger[metadataKey: "epoch"] = 2
        let child = logger
        logger[metadataKey: "epoch"] = nil
        logger.info("a", ["x": 1])
        child.info("b")
        #expect(captured.lines == ["10:28:36 a partition=3 x=1", "10:28:36 b partition=3 epoch=2"])
        #expect(child[metadataKey: "epoch"] == 2 && logger[metadataKey: "epoch"] == nil)
    }

    @Test("Lines of many tasks stay whole")
    func concurrency() async throws {
        let captured = try Captured(isTerminal: false)
        let logger = Logger(level: .info, to: captured.output)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for i in 0..<250 { logger.info("line", ["task": .int(Int64(task)), "i": .int(Int64(i))]) }
                }
            }
        }
        #expect(captured.lines.count == 2_000)
        #expect(captured.lines.allSatisfy { $0.hasPrefix("{\"ts\":") && $0.hasSuffix("}") })
    }

    @Test("A reader that has gone away stops nothing")
    func goneReader() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        signal(SIGPIPE, SIG_IGN)
        close(ends[0])
        Logger(level: .info, to: LogOutput(ends[1])).info("nobody hears this")
        close(ends[1])
    }
}
