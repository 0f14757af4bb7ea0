/// An error that says several things, each on a line of its own.
package protocol ErrorOfLines: Error {
    var lines: [String] { get }
}
