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
        for act in ["open", "exec", "socket", "signal", "share"] {
            #expect(findings["sandbox, \(act)"]?.says.hasPrefix("refused") == true)
        }
        for library in ["libvips 8", "libjpeg-turbo 2", "libwebp 1", "LittleCMS 2"] {
            #expect(findings["renderer"]?.says.contains(library) == true)
        }
        #expect(findings["data directory"]?.says.contains("is writable") == true)
        #expect(findings["log"]?.says.contains("will be made") == true)
    }

    @Test("A renderer that is missing or is none is named, and nothing is said of its sandbox", arguments: ["/nowhere/r", "/bin/true"])
    func missing(program: String) throws {
        let (status, findings) = try findings(["--set", "data=\(folder.path)", "--set", "render.program=\(program)"])
        #expect(status == 1)
        #expect(findings["renderer"]?.isWell == false)
        #expect(findings["renderer"]?.says.contains(program) == true)
        #expect(findings["sandbox, open"] == nil)
    }

    @Test("A file in a directory's place, and watermarks that are not there, are named")
    func places() throws {
        let file = folder.file("afile")
        try Data("x".utf8).write(to: URL(filePath: file))
        let (status, findings) = try findings(["--set", "data=\(file)", "--set", "render.watermarks=\(file)s"])
        #expect(status == 1)
        for what in ["data directory", "store directory", "log", "watermarks"] {
            #expect(findings[what]?.isWell == false && findings[what]?.says.contains(file) == true, "\(what)")
        }
    }
}
