import Foundation
import HTTPCache
import TestSupport
import Testing

/// What http-tests/cache-tests says of these rules, beside what it says of others.
@Suite(
    "HTTP caching: the public suite", .timeLimit(.minutes(2)),
    .enabled(
        if: Shared.has(CacheSuite.folder) && FileManager.default.isExecutableFile(atPath: "/usr/bin/node"),
        Comment(rawValue: "needs node, and " + Shared.absent)))
struct CacheSuiteTests {
    @Test("Everything that RFC 9111 requires holds, and the table of the rest is the documented one")
    func suite() throws {
        let suite = try CacheSuite()
        #expect(suite.tests.count > 200)
        let own = suite.results()
        for test in suite.tests where test.kind == .required {
            let result = suite.settled(test, own)
            #expect(result == .passed, "\(test.file) \(test.id)")
        }
        var lines = ["| kind | tests | mezzotint | nginx | Squid | Varnish |", "|---|---|---|---|---|---|"]
        let others = try ["nginx", "squid", "varnish"].map(CacheSuite.published)
        for kind in CacheSuite.Kind.allCases {
            let tests = suite.tests.filter { $0.kind == kind }
            let counts = ([own] + others).map { results in tests.count { suite.settled($0, results) == .passed } }
            lines.append(
                "| \(kind.rawValue) | \(tests.count) | " + counts.map(String.init).joined(separator: " | ") + " |")
        }
        let page = URL(filePath: #filePath).appending(path: "../../../ARCHITECTURE.md").standardizedFileURL
        let documented = try String(contentsOf: page, encoding: .utf8)
        #expect(documented.contains(lines.joined(separator: "\n")), "\(lines.joined(separator: "\n"))")
    }
}
