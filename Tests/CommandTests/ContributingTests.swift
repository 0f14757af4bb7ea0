import Foundation
import Testing

@Suite("CONTRIBUTING.md", .timeLimit(.minutes(1)))
struct ContributingTests {
    @Test("The tests that it names for findings of the review are there")
    func named() throws {
        let project = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL
        let page = try String(contentsOf: project.appending(path: "CONTRIBUTING.md"), encoding: .utf8)
        let named = page.matches(of: #/`(\w+Tests\/\w+Tests)(?:\.(\w+))?`/#)
        #expect(named.count >= 30)
        for test in named {
            let file = try String(contentsOf: project.appending(path: "Tests/\(test.1).swift"), encoding: .utf8)
            if let name = test.2 { #expect(file.contains("func \(name)("), "\(test.0)") }
        }
    }
}
