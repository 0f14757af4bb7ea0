internal import Foundation
internal import Glibc

/// A program at work: one of ours, beside others, or a tool.
///
/// - Ownership: one that still runs when the value goes is ended.
final class ChildProgram {
    private let process = Process()
    private let pipe = Pipe()
    private let name: String

    var pid: Int32 { process.processIdentifier }

    /// `environment` is added to ours.
    init(
        _ program: URL, _ words: [String], name: String? = nil, input: URL? = nil, environment: [String: String] = [:]
    ) throws {
        self.name = name ?? program.lastPathComponent
        process.executableURL = program
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.arguments = words
        process.standardInput = try input.map { try FileHandle(forReadingFrom: $0) } ?? FileHandle.nullDevice
        process.standardOutput = pipe
        try process.run()
    }

    deinit { if process.isRunning { Glibc.kill(pid, SIGKILL) } }

    /// Waits for its end; what it printed.
    func finish() throws -> String {
        let printed = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ToolFailure(program: name, status: process.terminationStatus)
        }
        return String(decoding: printed, as: UTF8.self)
    }

    /// Runs a program that is found by its name, to its end; what it printed.
    static func output(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws -> String {
        try ChildProgram(URL(filePath: "/usr/bin/env"), [program] + arguments, name: program, environment: environment)
            .finish()
    }

    /// Ends it without a word.
    func kill() {
        Glibc.kill(pid, SIGKILL)
        process.waitUntilExit()
    }

    /// Tells it to stop, and waits for its end.
    func stop() throws -> String {
        process.terminate()
        return try finish()
    }
}

struct ToolFailure: Error, CustomStringConvertible {
    let program: String
    let status: Int32
    var description: String { "\(program) ended with status \(status); what it said is above." }
}
