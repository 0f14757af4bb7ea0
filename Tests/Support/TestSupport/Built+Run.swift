package import Foundation

/// How a program ended, and what it said.
package struct Ended: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String

    package var lines: [Substring] { output.split(separator: "\n") }
}

extension Built {
    /// Runs one of the built programs to its end, in `folder`, with nothing of ours in its environment but `environment`.
    ///
    /// Blocks a thread: for tests of commands that end soon by themselves.
    package static func run(
        _ program: String, _ words: [String], input: Data = Data(), in folder: URL? = nil,
        environment: [String: String] = [:]
    ) throws -> Ended {
        let scratch = try TemporaryFolder()
        func stream(_ name: String, _ content: Data = Data()) throws -> FileHandle {
            try content.write(to: scratch.url.appending(path: name))
            return try FileHandle(forUpdating: scratch.url.appending(path: name))
        }
        let process = Process()
        process.executableURL = Self.program(program)
        process.arguments = words
        process.currentDirectoryURL = folder ?? scratch.url
        process.environment = environment.merging(["PATH": "/usr/bin:/bin", "TZ": "UTC"]) { given, _ in given }
        let streams = try [stream("input", input), stream("output"), stream("errors")]
        // Foundation keeps what a process was given open, and fails at some thousand descriptors.
        defer { for stream in streams { try? stream.close() } }
        (process.standardInput, process.standardOutput, process.standardError) = (streams[0], streams[1], streams[2])
        try process.run()
        return Ended(
            status: process.end().status,
            output: try String(contentsOf: scratch.url.appending(path: "output"), encoding: .utf8),
            errors: try String(contentsOf: scratch.url.appending(path: "errors"), encoding: .utf8))
    }
}
