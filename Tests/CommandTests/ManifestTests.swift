import Foundation
import Testing

@Suite("Package.swift: what a target needs is what its files import", .timeLimit(.minutes(1)))
struct ManifestTests {
    private static let project = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

    private struct Target {
        let name: String
        let path: String
        let needs: Set<String>
    }

    @Test("Each target declares every module of the project that it imports, and no other")
    func needs() throws {
        let manifest = try String(contentsOf: Self.project.appending(path: "Package.swift"), encoding: .utf8)
        let targets = Self.targets(manifest)
        #expect(targets.count > 50)
        let programs = Set(targets.map(\.name).filter { $0.hasPrefix("mezzotint") })
        let known = Set(targets.map(\.name)).union(manifest.matches(of: #/\blibrary\("(\w+)"/#).map { String($0.1) })
        // One of them is C.
        for target in targets where !target.path.hasPrefix("Sources/C/") {
            let imports = try Self.imports(below: target.path).intersection(known)
            #expect(imports.subtracting(target.needs) == [], "\(target.name) imports these, and does not declare them")
            // Tests need programs to be built; every test may use the common support.
            let unused = target.needs.subtracting(imports).subtracting(programs).subtracting(["TestSupport"])
            #expect(unused == [], "\(target.name) declares these, and does not import them")
        }
    }

    /// A parser's fault would be the worker's.
    @Test("No room that the worker is made of can see what parses pictures")
    func parsers() throws {
        let targets = Self.targets(try String(contentsOf: Self.project.appending(path: "Package.swift"), encoding: .utf8))
        let needs = Dictionary(uniqueKeysWithValues: targets.map { ($0.name, $0.needs) })
        var (seen, open): (Set<String>, [String]) = ([], ["mezzotint_worker"])
        while let name = open.popLast() { if seen.insert(name).inserted { open += needs[name] ?? [] } }
        #expect(seen.count > 15 && !seen.contains("PictureHeaders"))
        #expect(needs["mezzotint_inspector"]?.contains("PictureHeaders") == true)
    }

    private static func targets(_ manifest: String) -> [Target] {
        func names(_ list: Substring?) -> Set<String> {
            Set((list ?? "").matches(of: #/"([\w-]+)"/#).map { String($0.1).replacing("-", with: "_") })
        }
        var targets: [Target] = []
        for found in manifest.matches(of: #/\broom\(\s*"(\w+)"(?:,\s*needs: \[([^\]]*)\])?/#) {
            targets.append(Target(name: String(found.1), path: "Sources/\(found.1)", needs: names(found.2)))
        }
        for found in manifest.matches(of: #/\bprogram\(\s*"([\w-]+)",\s*in: "(\w+)",\s*needs: \[([^\]]*)\]/#) {
            let name = String(found.1).replacing("-", with: "_")
            targets.append(Target(name: name, path: "workers/\(found.2)", needs: names(found.3)))
        }
        for found in manifest.matches(of: #/\btests\(\s*"(\w+)",\s*needs: \[([^\]]*)\]/#) {
            let name = "\(found.1)Tests"
            targets.append(Target(name: name, path: "Tests/\(name)", needs: names(found.2).union(["TestSupport"])))
        }
        let plain = #/\.target\(\s*name: "(\w+)",(?:\s*dependencies: \[([^\]]*)\],)?\s*path: "([^"]+)"/#
        for found in manifest.matches(of: plain) {
            targets.append(Target(name: String(found.1), path: String(found.3), needs: names(found.2)))
        }
        return targets
    }

    private static func imports(below path: String) throws -> Set<String> {
        let folder = project.appending(path: path)
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(!files.isEmpty, "\(path) holds no sources")
        return try files.reduce(into: []) { imports, file in
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            let found = text.matches(of: #/^(?:@\w+ )?(?:\w+ )?import (\w+)/#.anchorsMatchLineEndings())
            imports.formUnion(found.map { String($0.1) })
        }
    }
}
