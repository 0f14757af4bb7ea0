import Foundation
import TestSupport
import Testing

@Suite("CONTRIBUTING.md", .timeLimit(.minutes(1)))
struct ContributingTests {
    @Test("The tests that it names for findings of the review are there")
    func named() throws {
        let files = try FileManager.default.subpathsOfDirectory(atPath: Project.file("Tests").path)
        let page = try Project.text("CONTRIBUTING.md")
        let named = page.matches(of: #/`(\w+Tests)\/(\w+Tests)(?:\.(\w+))?`/#)
        #expect(named.count >= 30)
        for test in named {
            let path = files.first { $0.contains("/\(test.1)/") && $0.hasSuffix("/\(test.2).swift") }
            let file = try Project.text("Tests/\(try #require(path, "\(test.0)"))")
            if let name = test.3 { #expect(file.contains("func \(name)("), "\(test.0)") }
        }
    }
}
