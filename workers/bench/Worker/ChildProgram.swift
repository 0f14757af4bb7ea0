internal import Foundation

/// One of the programs at work, beside others.
///
/// - Ownership: one that still runs when the value goes is ended.
final class ChildProgram {
    private let process = Process()
    private let pipe = Pipe()

    var pid: Int32 { process.processIdentifier }

    init(_ program: URL, _ words: [String], input: URL? = nil) throws {
        process.executableURL = program
        process.arguments = words
        process.standardInput = try input.map { try FileHandle(forReadingFrom: $0) } ?? FileHandle.nullDevice
        process.standardOutput = pipe
        try process.run()
    }

    deinit { if process.isRunning { kill(pid, SIGKILL) } }

    /// Waits for its end; what it printed.
    func finish() throws -> String {
        let printed = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let name = process.executableURL?.lastPathComponent ?? ""
            throw BenchFailure(
                description: "\(name) ended with status \(process.terminationStatus); what it said is above.")
        }
        return String(decoding: printed, as: UTF8.self)
    }

    /// Tells it to stop, and waits for its end.
    func stop() throws -> String {
        process.terminate()
        return try finish()
    }
}
