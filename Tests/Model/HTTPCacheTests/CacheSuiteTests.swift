import CacheSuite
import Testing

/// What http-tests/cache-tests says of these rules, beside what it says of others.
@Suite(
    "HTTP caching: the public suite", .timeLimit(.minutes(2)),
    .enabled(if: CacheSuite.isThere, Comment(rawValue: CacheSuite.comment)))
struct CacheSuiteTests {
    @Test("Everything that RFC 9111 requires holds, and the table of the rest is the documented one")
    func suite() throws {
        let suite = try CacheSuite()
        #expect(suite.tests.count > 200)
        let own = Dictionary(uniqueKeysWithValues: suite.tests.map { ($0.id, Replay.run($0)) })
        for test in suite.tests where test.kind == .required {
            let result = suite.settled(test, own)
            #expect(result == .passed, "\(test.file) \(test.id)")
        }
        let table = try suite.table(own)
        let isDocumented = try CacheSuite.architecture().contains(table)
        #expect(isDocumented, "\(table)")
    }
}
