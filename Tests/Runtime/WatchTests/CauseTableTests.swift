import Foundation
import TestSupport
import Testing

@testable import Watch

@Suite("The table of causes", .timeLimit(.minutes(1)))
struct CauseTableTests {
    @Test("Each cause has one row with its texts", arguments: Cause.allCases)
    func rows(cause: Cause) {
        let rows = Cause.table.filter { $0.cause == cause && $0.texts != nil }
        #expect(rows.count == 1)
        #expect(rows.allSatisfy { $0.texts?.meaning.last == "." && $0.texts?.action.last == "." })
    }

    @Test("A quiet log without any fault is fine, by the last row")
    func last() {
        #expect(Cause.table.last?.cause == .fine)
        #expect(Cause.inOrder.count == Cause.allCases.count)
    }

    @Test("The reference lists causes in the order in which they are looked for")
    func reference() throws {
        let page = try Project.text("config/reference.md")
        let part = try #require(page.components(separatedBy: "\n## Causes\n").last?.components(separatedBy: "\n## ").first)
        #expect(Self.names(in: part, after: "\n| `") == Cause.inOrder.map(\.rawValue))
    }

    @Test("The runbook's parts follow the same order, and name causes that exist; parts without a cause come last")
    func runbook() throws {
        let page = try Project.text("ops/monitoring/runbook.md")
        let parts = page.components(separatedBy: "\n## ").dropFirst()
        let causes = parts.map { Self.names(in: $0, after: "**Cause:** `").first }
        #expect(causes.count > 20)
        let named = Array(causes.prefix { $0 != nil }.compactMap(\.self))
        #expect(named.count == causes.compactMap(\.self).count, "a part without a cause stands between those with one")
        let ranks = try named.map { name in
            try #require(Cause.inOrder.firstIndex { $0.rawValue == name }, "\(name) is no cause")
        }
        #expect(ranks == ranks.sorted(), "\(named)")
    }

    /// What stands between each of these and the next backquote.
    private static func names(in text: String, after mark: String) -> [String] {
        text.components(separatedBy: mark).dropFirst().map { String($0.prefix { $0 != "`" }) }
    }
}
