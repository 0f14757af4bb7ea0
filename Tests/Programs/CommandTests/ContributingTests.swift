import Foundation
import TestSupport
import Testing

@Suite("CONTRIBUTING.md", .timeLimit(.minutes(1)))
struct ContributingTests {
    @Test("The tests that it names for findings of the review are there")
    func named() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Project.file("Tests").path)
        let page = try Project.text("CONTRIBUTING.md")
        let named = page.matches(of: #/`(\w+Tests\/\w+Tests)(?:\.(\w+))?`/#)
        #expect(named.count >= 30)
        for test in named {
            let paths = folders.map { "Tests/\($0)/\(test.1).swift" }
            let path = paths.first { FileManager.default.fileExists(atPath: Project.file($0).path) }
            let file = try Project.text(try #require(path, "\(test.0)"))
            if let name = test.2 { #expect(file.contains("func \(name)("), "\(test.0)") }
        }
    }
}
