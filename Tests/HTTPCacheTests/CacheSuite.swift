import Foundation
import HTTPCache
import TestSupport

/// http-tests/cache-tests, as its own files say it: read by node, replayed against `PrivateCache`.
struct CacheSuite {
    /// The files whose tests mean something to a private cache that serves nobody.
    static let files: Set = [
        "cc-freshness", "cc-parse", "age-parse", "expires", "expires-parse", "cc-response", "heuristic", "status",
        "stale",
        "update304", "vary", "vary-parse", "conditional-lm", "conditional-inm",
    ]
    static let folder = "suites/http-cache"

    enum Kind: String, CaseIterable { case required, optimal, check }
    enum Result: Equatable {
        case passed
        case failed(String)
        /// What it depends on did not pass, or its own preparation.
        case unmet(String)
        case unknown
    }

    struct Test {
        let file: String
        let id: String
        let kind: Kind
        let needs: [String]
        let requests: [[String: Any]]
    }

    let tests: [Test]

    init() throws {
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

    /// Each by itself.
    func results() -> [String: Result] {
        Dictionary(uniqueKeysWithValues: tests.map { ($0.id, Replay.run($0)) })
    }

    /// As published for a cache.
    static func published(_ cache: String) throws -> [String: Result] {
        let path = try part(folder + "/results/\(cache).json")
        let said = try JSONSerialization.jsonObject(with: try Data(contentsOf: URL(filePath: path)))
        return (said as? [String: Any] ?? [:]).mapValues { value in
            guard let words = value as? [String] else { return .passed }
            return words[0] == "Setup" ? .unmet(words[1]) : .failed(words[1])
        }
    }

    /// What counts: a test whose needs did not pass says nothing.
    func settled(_ test: Test, _ results: [String: Result]) -> Result {
        for id in test.needs {
            guard let need = tests.first(where: { $0.id == id }) else { continue }
            if settled(need, results) != .passed { return .unmet(id) }
        }
        return results[test.id] ?? .unknown
    }
}

extension CacheSuite {
    private struct Absent: Error { let path: String }

    private static func part(_ path: String) throws -> String {
        guard let part = Shared.part(path) else { throw Absent(path: path) }
        return part.path
    }
}
