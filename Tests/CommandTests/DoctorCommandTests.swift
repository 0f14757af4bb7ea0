import Foundation
import TestSupport
import Testing

@Suite("mezzotint doctor: what a worker needs here, tried", .timeLimit(.minutes(1)))
struct DoctorCommandTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private struct Finding: Decodable {
        let what: String
        let isWell: Bool
        let says: String
    }

    private func findings(_ words: [String]) throws -> (status: Int32, findings: [String: Finding]) {
        let ended = try Built.run("mezzotint", ["doctor", "--json"] + words)
        let list = try JSONDecoder().decode([Finding].self, from: Data(ended.output.utf8))
        return (ended.status, Dictionary(uniqueKeysWithValues: list.map { ($0.what, $0) }))
    }

    @Test("All is well here: children are refused what they must not do, and libraries tell their versions")
    func well() throws {
        let (status, findings) = try findings(["--set", "data=\(folder.path)"])
        #expect(status == 0, "\(findings.values.filter { !$0.isWell })")
        for act in ["open", "exec", "socket"] {
            #expect(findings["sandbox, \(act)"]?.says.hasPrefix("refused") == true)
        }
        for library in ["libvips 8", "libjpeg-turbo 2", "libwebp 1", "LittleCMS 2"] {
            #expect(findings["renderer"]?.says.contains(library) == true)
        }
        #expect(findings["data directory"]?.says.contains("is writable") == true)
        #expect(findings["log"]?.says.contains("will be made") == true)
    }

    @Test("What is missing is named, with what to do, and the status is 1")
    func missing() throws {
        let (status, findings) = try findings(["--set", "data=\(folder.path)", "--set", "render.program=/nowhere/renderer"])
        #expect(status == 1)
        #expect(findings["renderer"]?.isWell == false)
        #expect(findings["renderer"]?.says.contains("/nowhere/renderer") == true)
        #expect(findings["sandbox, open"]?.isWell == false)
    }
}
