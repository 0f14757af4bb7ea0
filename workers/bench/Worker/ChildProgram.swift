internal import Foundation
internal import Glibc

/// A running program: one of ours, next to others, or a tool.
///
/// - Ownership: a program that still runs when the value is released is killed.
final class ChildProgram {
    private let process = Process()
    private let pipe = Pipe()
    private let name: String

    var pid: Int32 { process.processIdentifier }

    /// - Parameter environment: variables in addition to ours.
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

    /// Waits for its end; returns its output.
    func finish() throws -> String {
        let printed = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ToolFailure(program: name, status: process.terminationStatus)
        }
        return String(decoding: printed, as: UTF8.self)
    }

    /// Runs a program found by its name to its end; returns its output.
    static func output(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws -> String {
        try ChildProgram(URL(filePath: "/usr/bin/env"), [program] + arguments, name: program, environment: environment)
            .finish()
    }

    /// Kills it.
    func kill() {
        Glibc.kill(pid, SIGKILL)
        process.waitUntilExit()
    }

    /// Sends SIGTERM, and waits for its end.
    func stop() throws -> String {
        process.terminate()
        return try finish()
    }
}

struct ToolFailure: Error, CustomStringConvertible {
    let program: String
    let status: Int32
    var description: String { "\(program) ended with status \(status); its output is above." }
}
