import Foundation

/// A failure of the demo, in one sentence.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The programs next to this one, run as a user would run them.
struct Programs {
    private let folder: URL
    private let settings: [String]

    /// - Parameter settings: values for `--set` of each program.
    init(settings: [String]) throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        folder = URL(filePath: own).deletingLastPathComponent()
        self.settings = settings.flatMap { ["--set", $0] }
    }

    func path(of program: String) throws -> String {
        let path = folder.appending(path: program).path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw DemoFailure("\(path) is not there. Build all programs first: swift build -c release.")
        }
        return path
    }

    /// Runs a program to its end and returns its output; its standard error goes to ours.
    func run(_ program: String, _ words: [String], input: String = "") throws -> String {
        try start(program, words, input: input).finish()
    }

    func start(_ program: String, _ words: [String], input: String = "") throws -> Running {
        let process = Process()
        process.executableURL = URL(filePath: try path(of: program))
        process.arguments = words + settings
        let scratch = FileManager.default.temporaryDirectory.appending(path: "mezzotint-demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        // Passed in a file: with a pipe that is not read, both programs would stop.
        try Data(input.utf8).write(to: scratch)
        let output = Pipe()
        process.standardInput = try FileHandle(forReadingFrom: scratch)
        process.standardOutput = output
        try process.run()
        return Running(process: process, output: output, name: "\(program) \(words.joined(separator: " "))")
    }

    /// A program that was started.
    struct Running {
        fileprivate let process: Process
        fileprivate let output: Pipe
        fileprivate let name: String

        /// Waits for its end; returns its output.
        func finish() throws -> String {
            let printed = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                throw DemoFailure("\(name) ended with status \(process.terminationStatus); see above.")
            }
            return String(decoding: printed, as: UTF8.self)
        }
    }
}
