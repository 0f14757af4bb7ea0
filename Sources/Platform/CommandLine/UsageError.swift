/// A command line that means nothing: one sentence saying what, and what was probably meant.
package struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
