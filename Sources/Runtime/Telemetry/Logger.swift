/// A structured log: each line has a sentence for people and typed fields for machines.
///
/// It uses swift-log's terms, so that swift-log could replace it. On a terminal, lines are formatted for reading;
/// elsewhere each is one JSON object. A line below the level costs one comparison: its message and fields are not
/// created.
///
/// - Concurrency: shared freely; each line is written whole.
package struct Logger: Sendable {
    package enum Level: String, Sendable, Comparable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical

        package static func < (a: Self, b: Self) -> Bool { a.order < b.order }

        private var order: Int {
            switch self {
            case .trace: 0
            case .debug: 1
            case .info: 2
            case .notice: 3
            case .warning: 4
            case .error: 5
            case .critical: 6
            }
        }
    }

    package enum Value: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
        ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
    {
        case string(String)
        case int(Int64)
        case double(Double)
        case bool(Bool)
        package init(stringLiteral value: String) { self = .string(value) }
        package init(integerLiteral value: Int64) { self = .int(value) }
        package init(floatLiteral value: Double) { self = .double(value) }
        package init(booleanLiteral value: Bool) { self = .bool(value) }
    }

    package typealias Metadata = KeyValuePairs<String, Value>
    typealias Field = (name: String, value: Value)

    package let level: Level
    let output: LogOutput
    /// Fields of every line.
    private var metadata: [Field] = []

    /// Creates a logger that writes lines of `level` and above to `output`.
    package init(level: Level, to output: LogOutput = .standardError) { (self.level, self.output) = (level, output) }

    /// A field that every line of this logger carries before its own; nil removes it.
    package subscript(metadataKey name: String) -> Value? {
        get { metadata.first { $0.name == name }?.value }
        set {
            let at = metadata.firstIndex { $0.name == name }
            switch (at, newValue) {
            case (let at?, let value?): metadata[at].value = value
            case (let at?, nil): metadata.remove(at: at)
            case (nil, let value?): metadata.append((name, value))
            case (nil, nil): break
            }
        }
    }

    package func trace(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> Metadata = [:]) {
        log(.trace, message(), metadata())
    }
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
    package func critical(_ message: @autoclosure () -> String, _ metadata: @autoclosure () -> Metadata = [:]) {
        log(.critical, message(), metadata())
    }

    package func log(
        _ level: Level, _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> Metadata = [:]
    ) {
        guard level >= self.level else { return }
        output.write(level, message(), self.metadata, metadata())
    }
}
