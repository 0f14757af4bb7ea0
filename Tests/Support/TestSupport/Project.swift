package import Foundation

/// Files of the project itself, for tests that hold its pages, scripts and tables to the code.
package enum Project {
    package static let folder = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL

    /// - Parameter path: below the project's folder.
    package static func file(_ path: String) -> URL { folder.appending(path: path) }
    package static func text(_ path: String) throws -> String { try String(contentsOf: file(path), encoding: .utf8) }
}
