internal import Foundation
internal import TestSupport

/// http-tests/cache-tests, as its own files say it: read by node.
package struct CacheSuite {
    /// The files whose tests mean something to a private cache that serves nobody.
    private static let files: Set = [
        "cc-freshness", "cc-parse", "age-parse", "expires", "expires-parse", "cc-response", "heuristic", "status",
        "stale",
        "update304", "vary", "vary-parse", "conditional-lm", "conditional-inm",
    ]
    package static let folder = "suites/http-cache"

    package enum Kind: String, CaseIterable { case required, optimal, check }
    package enum Result: Equatable {
        case passed
        case failed(String)
        /// What it depends on did not pass, or its own preparation.
        case unmet(String)
        case unknown
    }

    package struct Test {
        package let file: String
        package let id: String
        package let kind: Kind
        let needs: [String]
        package let requests: [[String: Any]]
    }

    package private(set) var tests: [Test]

    package static let comment = "needs node, and " + Shared.absent
    package static var isThere: Bool {
        Shared.has(folder) && FileManager.default.isExecutableFile(atPath: "/usr/bin/node")
    }

    package init() throws {
        let path = try Self.part(Self.folder + "/tests/index.mjs")
        let script = "import('\(path)').then(m => console.log(JSON.stringify(m.default)))"
        let ended = try Built.run("/usr/bin/node", ["-e", script])
        let sets = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [[String: Any]] ?? []
        tests = sets.filter { Self.files.contains($0["id"] as? String ?? "") }.flatMap { set in
            (set["tests"] as? [[String: Any]] ?? []).filter(Self.isOurs).map { test in
                Test(
                    file: set["id"] as? String ?? "", id: test["id"] as? String ?? "",
                    kind: (test["kind"] as? String).flatMap(Kind.init) ?? .required,
                    needs: test["depends_on"] as? [String] ?? [], requests: test["requests"] as? [[String: Any]] ?? [])
            }
        }
    }

    /// Those for shared caches ask for `s-maxage`; those for browsers and for fronts have clients with conditions and modes
    /// of their own.
    private static func isOurs(_ test: [String: Any]) -> Bool {
        let requests = test["requests"] as? [[String: Any]] ?? []
        return test["browser_skip"] as? Bool != true && test["cdn_only"] as? Bool != true
            && !requests.contains { $0["cache"] != nil }
    }

    /// Without the others. What depended on one of those depends on nothing.
    package func only(_ isWanted: (Test) -> Bool) -> CacheSuite {
        var suite = self
        suite.tests = tests.filter(isWanted)
        return suite
    }

    /// As published for a cache.
    private static func published(_ cache: String) throws -> [String: Result] {
        let path = try part(folder + "/results/\(cache).json")
        let said = try JSONSerialization.jsonObject(with: try Data(contentsOf: URL(filePath: path)))
        return (said as? [String: Any] ?? [:]).mapValues { value in
            guard let words = value as? [String] else { return .passed }
            return words[0] == "Setup" ? .unmet(words[1]) : .failed(words[1])
        }
    }

    /// What counts: a test whose needs did not pass says nothing.
    package func settled(_ test: Test, _ results: [String: Result]) -> Result {
        for id in test.needs {
            guard let need = tests.first(where: { $0.id == id }) else { continue }
            if settled(need, results) != .passed { return .unmet(id) }
        }
        return results[test.id] ?? .unknown
    }
}

extension CacheSuite {
    /// What passed, beside what is published of others, as ARCHITECTURE.md has it.
    package func table(_ own: [String: Result]) throws -> String {
        var lines = ["| kind | tests | mezzotint | nginx | Squid | Varnish |", "|---|---|---|---|---|---|"]
        let others = try ["nginx", "squid", "varnish"].map(Self.published)
        for kind in Kind.allCases {
            let tests = tests.filter { $0.kind == kind }
            let counts = ([own] + others).map { results in tests.count { settled($0, results) == .passed } }
            lines.append(
                "| \(kind.rawValue) | \(tests.count) | " + counts.map(String.init).joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n")
    }

    package static func architecture() throws -> String { try Project.text("ARCHITECTURE.md") }

    private struct Absent: Error { let path: String }

    private static func part(_ path: String) throws -> String {
        guard let part = Shared.part(path) else { throw Absent(path: path) }
        return part.path
    }
}
