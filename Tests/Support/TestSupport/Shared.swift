package import Foundation

/// What stands beside the project, where it does: real pictures, brokers, peers, tools.
///
/// Found by `MEZZOTINT_SHARED` or as `../shared`. A test that needs a part says so by `.enabled(if:)`, so that it
/// counts as skipped, with the reason, where the part is absent.
package enum Shared {
    package static let folder: URL? = {
        let named = ProcessInfo.processInfo.environment["MEZZOTINT_SHARED"].map { URL(filePath: $0) }
        let beside = Project.file("../shared").standardizedFileURL
        return [named, beside].compactMap { $0 }.first { FileManager.default.fileExists(atPath: $0.path) }
    }()

    /// A part by its path below the folder; nil where it is absent.
    package static func part(_ path: String) -> URL? {
        guard let url = folder?.appending(path: path), FileManager.default.fileExists(atPath: url.path) else { return nil }
        return url
    }

    package static func has(_ path: String) -> Bool { part(path) != nil }
    package static let absent = "needs a part of ../shared (or of the folder that MEZZOTINT_SHARED names) that is not here"

    /// The files of a folder of pictures, by name.
    package static func pictures(_ folder: String) -> [URL] {
        guard let url = part("images/\(folder)") else { return [] }
        let files = (try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)) ?? []
        return files.sorted { $0.lastPathComponent < $1.lastPathComponent }
    }
}

/// A folder of a test's own, removed with the value.
package final class TemporaryFolder: Sendable {
    package let url: URL
    package var path: String { url.path }

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "mezzotint-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package func file(_ name: String) -> String { url.appending(path: name).path }
}

/// The folder that the build puts programs in: where the tests themselves run from.
package enum Built {
    package static let folder: URL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    /// A built program by its name, or any by its path.
    package static func program(_ name: String) -> URL {
        name.hasPrefix("/") ? URL(filePath: name) : folder.appending(path: name)
    }
}
