internal import Foundation

/// What stands beside the project, where it does.
enum SharedTools {
    /// Below the folder that `MEZZOTINT_SHARED` names, or `../shared`; nil where it is absent.
    static func part(_ path: String) -> URL? {
        let named = ProcessInfo.processInfo.environment["MEZZOTINT_SHARED"] ?? "../shared"
        let url = URL(filePath: named).appending(path: path).standardizedFileURL
        return FileManager.default.fileExists(atPath: url.path) ? url : nil
    }

    /// Runs a program to its end and returns what it printed.
    static func output(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws -> String {
        try ChildProgram(URL(filePath: "/usr/bin/env"), [program] + arguments, name: program, environment: environment)
            .finish()
    }
}

struct ToolFailure: Error, CustomStringConvertible {
    let program: String
    let status: Int32
    var description: String { "\(program) ended with status \(status); what it said is above." }
}
