import Failures
import Foundation
import HTTP
import ImageModel
import Ports
import Posix
import TestSupport
import Testing

@testable import Origin

@Suite("Origins with a private authority", .timeLimit(.minutes(1)))
struct AuthorityTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    private static let authority = folder.appending(path: "private-authority.pem").path
    private static let python = "/usr/bin/python3"

    /// `private_host.py` at work. Ends with the value.
    private final class PrivateHost {
        private let process = Process()
        let url: String

        init() throws {
            process.executableURL = URL(filePath: AuthorityTests.python)
            process.arguments = ["private_host.py", "private-host.pem"].map {
                AuthorityTests.folder.appending(path: $0).path
            }
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            url = "https://127.0.0.1:\(port.trimmingCharacters(in: .newlines))/a"
        }

        deinit { kill(process.processIdentifier, SIGKILL) }
    }

    private func fetcher(_ files: [String]) throws -> GuardedFetcher {
        var configuration = OriginConfiguration.loopback
        if !files.isEmpty { configuration.authorities = try TrustedAuthorities(files: files) }
        return GuardedFetcher(configuration)
    }

    @Test(
        "Are trusted where fetch.authorities names it, in any of its files, and refused with its name elsewhere",
        .enabled(if: FileManager.default.fileExists(atPath: python)))
    func trust() async throws {
        let host = try PrivateHost()
        let request = FetchRequest(url: host.url, lane: .fast)
        let failure = await #expect(throws: FetchFailure.self) { try await fetcher([]).source(request) }
        #expect(failure?.code == "fetch.connection")
        #expect(failure?.description.contains("fetch.authorities adds a private one") == true)
        #expect(try await fetcher([Self.authority]).source(request).body.length == 3)
        let folder = try TemporaryFolder()
        // Without a line's end, as some programs write it.
        let other = try String(contentsOfFile: "/etc/ssl/certs/ISRG_Root_X1.pem", encoding: .utf8)
        try Data(other.trimmingCharacters(in: .newlines).utf8).write(to: folder.url.appending(path: "other.pem"))
        #expect(try await fetcher([folder.file("other.pem"), Self.authority]).source(request).body.length == 3)
        await #expect(throws: FetchFailure.self) { try await fetcher([folder.file("other.pem")]).source(request) }
    }

    @Test("The system's authorities stay, and a file that is not there is said")
    func system() throws {
        let bundle = try Data(contentsOf: URL(filePath: "/etc/ssl/certs/ca-certificates.crt"))
        let authorities = try TrustedAuthorities(files: [Self.authority])
        let all = try Data(contentsOf: URL(filePath: authorities.path))
        #expect(all.starts(with: bundle) && all.count > bundle.count + 500)
        #expect(throws: SystemFailure.self) { try TrustedAuthorities(files: ["/nonexistent/ca.pem"]) }
    }
}
