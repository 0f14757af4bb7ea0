/// An invalid command line: one sentence with the error, and with a suggestion.
package struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
