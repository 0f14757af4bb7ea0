internal import Clocks

/// The type of a setting's value: how to read it from a file or from text, how to write it, and the expectation for
/// errors.
package struct SettingType<Value: Sendable>: Sendable {
    /// Text for people, after "expected": `a size from 1KiB to 4GiB, such as 32MiB`. Its examples are accepted.
    package let expectation: String
    /// Reads a value; nil if the node has another form, an error if its form fits and there is more to report. `folder`
    /// contains the settings file; nil for flags and environment.
    package let read: @Sendable (_ node: YAMLNode, _ folder: String?) throws(SettingRefusal) -> Value?
    package let write: @Sendable (Value) -> String
    /// Whether no message may quote the value; `write` decides what `config show` displays.
    package var isSecret: Bool

    package init(
        expectation: String,
        read: @escaping @Sendable (_ node: YAMLNode, _ folder: String?) throws(SettingRefusal) -> Value?,
        write: @escaping @Sendable (Value) -> String, isSecret: Bool = false
    ) {
        (self.expectation, self.read, self.write, self.isSecret) = (expectation, read, write, isSecret)
    }

    /// A type for one unstructured word.
    package static func scalar(
        _ expectation: String, _ read: @escaping @Sendable (String) -> Value?,
        write: @escaping @Sendable (Value) -> String
    ) -> Self {
        SettingType(
            expectation: expectation,
            read: { node, _ in
                guard case .scalar(let text) = node.content else { return nil }
                return read(text)
            }, write: write)
    }
}

extension SettingType where Value == Int {
    package static func whole(_ range: ClosedRange<Int>) -> Self {
        scalar(
            "a whole number from \(range.lowerBound) to \(range.upperBound)",
            { text in
                Int(text.filter { $0 != "_" }).flatMap { range.contains($0) ? $0 : nil }
            }, write: { "\($0)" })
    }

    /// Bytes, written with a unit.
    package static func size(_ range: ClosedRange<Int>) -> Self {
        measure("size", range, Units.bytes, examples: ["64KiB", "32MiB", "1GiB"], of: { $0 }, from: { $0 })
    }
}

extension SettingType where Value == Duration {
    package static func duration(_ range: ClosedRange<Duration>) -> Self {
        measure(
            "duration", Int(range.lowerBound.milliseconds)...Int(range.upperBound.milliseconds), Units.time,
            examples: ["250ms", "10s", "5m", "2h", "7d"], of: { .milliseconds($0) }, from: { Int($0.milliseconds) })
    }
}

extension SettingType {
    /// A whole number with a unit of `table`.
    ///
    /// - Parameter examples: the message shows the examples that lie in `range`.
    fileprivate static func measure(
        _ noun: String, _ range: ClosedRange<Int>, _ table: Units.Table, examples: [String],
        of value: @escaping @Sendable (Int) -> Value, from number: @escaping @Sendable (Value) -> Int
    ) -> Self {
        let inside = examples.filter { Units.number($0, table).map(range.contains) ?? false }
        let bounds = "from \(Units.text(range.lowerBound, table)) to \(Units.text(range.upperBound, table))"
        let expectation = "a \(noun) \(bounds), such as \(inside.formattedAsChoice)"
        return SettingType(
            expectation: expectation,
            read: { node, _ throws(SettingRefusal) in
                guard case .scalar(let text) = node.content else { return nil }
                if let number = Units.number(text, table) { return range.contains(number) ? value(number) : nil }
                guard let flaw = Units.flaw(of: text, table) else { return nil }
                throw SettingRefusal("expected \(expectation), got \(node.brief), \(flaw).")
            }, write: { Units.text(number($0), table) })
    }
}

extension SettingType where Value == Double {
    package static func number(_ range: ClosedRange<Double>) -> Self {
        scalar(
            "a number from \(range.lowerBound) to \(range.upperBound)",
            { text in
                Double(text).flatMap { range.contains($0) ? $0 : nil }
            }, write: { "\($0)" })
    }
}

extension SettingType where Value == Bool {
    package static var flag: Self {
        scalar("true or false", { ["true": true, "false": false][$0] }, write: { "\($0)" })
    }
}

extension SettingType where Value: RawRepresentable<String> & CaseIterable {
    /// One of the cases, by its own text.
    package static var choice: Self {
        scalar(
            "one of " + Value.allCases.map(\.rawValue).joined(separator: ", "), { Value(rawValue: $0) },
            write: \.rawValue)
    }
}

extension SettingType where Value == String {
    package static func choice(_ values: [String]) -> Self {
        scalar("one of " + values.joined(separator: ", "), { values.contains($0) ? $0 : nil }, write: { $0 })
    }

    /// Text that is valid in an HTTP header or a message.
    package static var line: Self {
        scalar(
            "printable text on one line",
            { text in
                !text.isEmpty && text.utf8.allSatisfy { (32..<127).contains($0) } ? text : nil
            }, write: { $0 })
    }

    /// Any text without control characters; may be empty.
    package static var text: Self { scalar("text on one line", { $0.isOneLine ? $0 : nil }, write: { $0 }) }

    /// A path in the file system. In a file it is relative to that file's folder, elsewhere to the working directory.
    package static func path(allowsEmpty: Bool) -> Self {
        SettingType(
            expectation: "a path",
            read: { node, folder in
                guard case .scalar(let text) = node.content, allowsEmpty || !text.isEmpty, !text.utf8.contains(0) else {
                    return nil
                }
                guard let folder, !text.isEmpty, !text.hasPrefix("/") else { return text }
                return folder + "/" + text
            }, write: { $0 })
    }
}

extension SettingType {
    /// A list: in a file a YAML list; in one line of text, separated by commas.
    package static func list<Element: Sendable & CustomStringConvertible>(
        of expectation: String, _ element: @escaping @Sendable (String) -> Element?
    ) -> Self where Value == [Element] {
        SettingType(
            expectation: "a list of \(expectation)",
            read: { node, _ in
                guard let words = node.words else { return nil }
                let elements = words.compactMap(element)
                return elements.count == words.count ? elements : nil
            }, write: { "[" + $0.map(\.description).joined(separator: ", ") + "]" })
    }
}

extension SettingType where Value == [String] {
    /// Paths in the file system, each as in `path`.
    package static var paths: Self {
        SettingType(
            expectation: "a list of paths",
            read: { node, folder throws(SettingRefusal) in
                guard let words = node.words else { return nil }
                var paths: [String] = []
                for word in words {
                    guard
                        let path = try SettingType<String>.path(allowsEmpty: false).read(
                            YAMLNode(.scalar(word)), folder)
                    else { return nil }
                    paths.append(path)
                }
                return paths
            }, write: { "[" + $0.joined(separator: ", ") + "]" })
    }
}

extension String {
    package var isOneLine: Bool { utf8.allSatisfy { $0 >= 32 && $0 != 127 } }
}

extension [String] {
    /// The elements as text: `a, b or c`.
    package var formattedAsChoice: String {
        count < 2 ? joined() : dropLast().joined(separator: ", ") + " or " + self[count - 1]
    }
}

/// An error in a value that "expected this, got that" does not express.
package struct SettingRefusal: Error {
    package let message: String
    package init(_ message: String) { self.message = message }
}
