/// The arguments after a command's name, by the names of its table.
package struct ParsedArguments: Sendable {
    /// The command's path: `["mezzotint", "dead", "list"]`.
    package let command: [String]
    package let positionals: [String]
    private let given: [String: [String]]

    init(command: [String], positionals: [String], options: [String: [String]]) {
        (self.command, self.positionals, given) = (command, positionals, options)
    }

    package func flag(_ name: String) -> Bool { given[name] != nil }
    /// The last value given.
    package func value(_ name: String) -> String? { given[name]?.last }
    package func values(_ name: String) -> [String] { given[name] ?? [] }

    /// A whole number within `range`; nil if the option was not given.
    package func number(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let bounds =
                range.upperBound == .max
                ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
            throw UsageError("--\(name): expected a whole number \(bounds), got '\(text)'.")
        }
        return number
    }
}
