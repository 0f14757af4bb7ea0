
/// A structured log: a sentence for people with typed fields for machines, a line each.
///
/// The words are swift-log's, so that it could be swapped in. On a terminal lines are made to be read; elsewhere each
/// is one JSON object.
///
/// - Concurrency: shared freely; a line is written whole.
package struct Logger: Sendable {
    package enum Level: String, Sendable, Comparable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical

        package static func < (a: Self, b: Self) -> Bool { a.order < b.order }
        private var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    package enum Value: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        case string(String)
        case int(Int64)
        case double(Double)
        case bool(Bool)
        package init(stringLiteral value: String) { self = .string(value) }
        package init(integerLiteral value: Int64) { self = .int(value) }
    }

    package typealias Metadata = KeyValuePairs<String, Value>

    package let level: Level
    private let output: LogOutput

    /// Lines of `level` and above go to `output`.
    package init(level: Level, to output: LogOutput = .standardError) { (self.level, self.output) = (level, output) }

    package func debug(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> Metadata = [:]) {
        log(.debug, message(), metadata())
    }
    package func info(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> Metadata = [:]) {
        log(.info, message(), metadata())
    }
    package func notice(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> Metadata = [:]) {
        log(.notice, message(), metadata())
    }
    package func warning(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> Metadata = [:]) {
        log(.warning, message(), metadata())
    }
    package func error(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> Metadata = [:]) {
        log(.error, message(), metadata())
    }

    package func log(
        _ level: Level, _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> Metadata = [:]
    ) {
        guard level >= self.level else { return }
        output.write(level, message(), metadata())
    }
}
