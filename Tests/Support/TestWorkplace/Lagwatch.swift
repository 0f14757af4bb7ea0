package import Foundation
package import TestSupport
internal import Testing

/// A `mezzotint-lagwatch` that runs, and what it tells.
package struct Lagwatch: Sendable {
    package let program: RunningProgram
    /// `http://127.0.0.1:port`.
    package let address: String

    package func asked(_ path: String, headers: [String] = []) async throws -> Asked {
        try await Asked(address + path, headers: headers)
    }

    package func state() async throws -> State {
        let asked = try await asked("/api/v1/state")
        return try State(asked.text)
    }

    /// What it tells once it names this cause.
    @discardableResult
    package func tells(_ cause: String) async throws -> State {
        var state = try State("{}")
        try await eventually {
            state = try await self.state()
            return state.cause == cause
        }
        return state
    }

    package struct State {
        package let fields: [String: Any]
        package init(_ json: String) throws {
            // Before its first report it is starting.
            fields = (try? JSONSerialization.jsonObject(with: Data(json.utf8))) as? [String: Any] ?? ["cause": json]
        }
        package var cause: String { fields["cause"] as? String ?? "" }
        package var sentence: String { fields["sentence"] as? String ?? "" }
        package func rows(_ name: String) -> [[String: Any]] { fields[name] as? [[String: Any]] ?? [] }
    }
}

extension Workplace {
    /// Starts it on a free port, with the settings that all programs here have.
    ///
    /// - Parameter hosts: a file in place of /etc/hosts, where that may be mounted (`SmallDisk.canBeMounted`).
    package func lagwatch(_ more: String..., hosts: URL? = nil) async throws -> Lagwatch {
        var words = ["--listen", "127.0.0.1:0"] + programWords + more.flatMap { ["--set", $0] }
        if let hosts {
            let script = "mount --bind \"$0\" /etc/hosts && exec \"$@\""
            words = ["-m", "/bin/sh", "-c", script, hosts.path, Built.program("mezzotint-lagwatch").path] + words
        }
        let program = try RunningProgram(
            hosts == nil ? "mezzotint-lagwatch" : "/usr/bin/unshare", words, in: folder.url)
        await program.says("The page is served")
        let line = program.errors.split(separator: "\n").first { $0.contains("The page is served") } ?? ""
        let start = try #require(line.range(of: "http://"), "\(program.errors)")
        let address = line[start.lowerBound...].prefix { $0 != "\"" }
        return Lagwatch(program: program, address: String(address.dropLast()))
    }
}
