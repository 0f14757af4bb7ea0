/// An error with several messages, each on a line of its own.
package protocol ErrorOfLines: Error {
    var lines: [String] { get }
}
