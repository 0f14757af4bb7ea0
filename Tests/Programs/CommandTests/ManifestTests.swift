import Foundation
import TestSupport
import Testing

@Suite("Package.swift: what a target needs is what its files import", .timeLimit(.minutes(1)))
struct ManifestTests {
    private struct Target {
        let name: String
        let path: String
        let needs: Set<String>

        /// The folder of `Sources` that it is in; C modules have one of their own.
        var folder: String {
            let parts = path.split(separator: "/")
            guard parts[0] == "Sources" else { return path }
            return String(parts[1] == "Platform" && parts[2] == "C" ? "C" : parts[1])
        }
    }

    /// Folders and single modules that the modules of a folder may see. They may see each other too, except adapters.
    private static let folders: [String: Set<String>] = [
        "C": [],
        "Platform": ["C"],
        "Model": ["Clocks", "Digest", "DomainNames", "JSONText", "Posix"],
        "Ports": ["Model", "Clocks", "Digest", "Posix"],
        "Core": ["Model", "Ports", "Clocks", "Digest"],
        "Adapters": ["Model", "Ports", "Platform", "C", "KafkaSetup", "RenderProtocol"],
        "Imaging": ["Images", "VariantSpec", "Posix", "C"],
        "Runtime": ["Model", "Core", "Ports", "Clocks", "Digest", "JSONText", "Posix"],
    ]
    /// `Settings` has the one table of keys: it names the values that keys set, and the rows that live beside adapters.
    private static let exceptions: [String: Set<String>] = [
        "Settings": ["Model", "EmbeddedLog", "KafkaSetup", "Origin", "RendererPool", "Store"]
    ]

    @Test("Each target declares every module of the project that it imports, and no other")
    func needs() throws {
        let targets = try Self.targets()
        #expect(targets.count > 65)
        let programs = Set(targets.map(\.name).filter { $0.hasPrefix("mezzotint") })
        let known = Set(targets.map(\.name))
        for target in targets where target.folder != "C" {
            let imports = try Self.imports(below: target.path).intersection(known)
            #expect(imports.subtracting(target.needs) == [], "\(target.name) imports these, and does not declare them")
            // Tests need programs to be built; every test may use the common support, and times.
            let common: Set = target.name.hasSuffix("Tests") ? ["Clocks", "TestSupport"] : ["TestSupport"]
            let unused = target.needs.subtracting(imports).subtracting(programs).subtracting(common)
            #expect(unused == [], "\(target.name) declares these, and does not import them")
        }
    }

    @Test("Each folder of Sources holds targets, and sees no folder but those that it may see")
    func arrows() throws {
        let targets = try Self.targets()
        let folder = Dictionary(uniqueKeysWithValues: targets.map { ($0.name, $0.folder) })
        let modules = targets.filter { $0.path.hasPrefix("Sources/") }
        #expect(Set(modules.map(\.folder)) == Set(Self.folders.keys))
        for module in modules {
            let may = try #require(Self.folders[module.folder]).union(Self.exceptions[module.name] ?? [])
            let others = module.needs.filter { folder[$0] != module.folder || module.folder == "Adapters" }
            #expect(
                others.filter { may.isDisjoint(with: [$0, folder[$0] ?? ""]) } == [],
                "\(module.name) of \(module.folder) may not see these")
        }
        // Nobody builds a folder without a target.
        for name in Self.folders.keys {
            let path = name == "C" ? "Sources/Platform/C" : "Sources/\(name)"
            let found = try FileManager.default.contentsOfDirectory(atPath: Project.file(path).path)
                .filter { path != "Sources/Platform" || $0 != "C" }
            #expect(Set(found) == Set(modules.filter { $0.folder == name }.map(\.name)), "\(path)")
        }
        let top = Set(Self.folders.keys).subtracting(["C"])
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: Project.file("Sources").path)) == top)
        // Suites of whole programs have a folder of their own, and so does the code that suites share.
        let tests = try FileManager.default.contentsOfDirectory(atPath: Project.file("Tests").path)
        #expect(Set(tests) == top.union(["Programs", "Support"]))
        for target in targets where target.path.hasPrefix("Tests/") && target.name.hasSuffix("Tests") {
            guard let module = folder[String(target.name.dropLast("Tests".count))], top.contains(module) else {
                continue
            }
            #expect(target.path == "Tests/\(module)/\(target.name)")
        }
    }

    /// A parser's fault would be the worker's.
    @Test("No module that the worker is made of can see what parses pictures")
    func parsers() throws {
        let seen = try Self.seen(by: "mezzotint_worker")
        #expect(seen.count > 15 && !seen.contains("ImageHeaders"))
        #expect(try Self.seen(by: "mezzotint_inspector").contains("ImageHeaders"))
    }

    /// Parsers of hostile bytes need no records, and no library that records need.
    @Test("The programs that parse images see of the model only images, and the specs and failures that images name")
    func children() throws {
        let folder = Dictionary(uniqueKeysWithValues: try Self.targets().map { ($0.name, $0.folder) })
        for program in ["mezzotint_inspector", "mezzotint_renderer"] {
            let seen = try Self.seen(by: program).subtracting([program])
            let model = Set(seen.filter { folder[$0] == "Model" })
            #expect(model == ["Failures", "Images", "VariantSpec"], "\(program)")
            #expect(Set(seen.map { folder[$0] ?? $0 }) == ["C", "Imaging", "Model", "Platform"], "\(program)")
            #expect(seen.isDisjoint(with: ["Digest", "DomainNames", "CCrypto", "CIDN2"]), "\(program)")
        }
    }

    /// The target, what it needs, what that needs, and so on.
    private static func seen(by target: String) throws -> Set<String> {
        let needs = Dictionary(uniqueKeysWithValues: try targets().map { ($0.name, $0.needs) })
        var (seen, open): (Set<String>, [String]) = ([], [target])
        while let name = open.popLast() { if seen.insert(name).inserted { open += needs[name] ?? [] } }
        return seen
    }

    private static func targets() throws -> [Target] {
        let manifest = try Project.text("Package.swift")
        func names(_ list: Substring?) -> Set<String> {
            Set((list ?? "").matches(of: #/"([\w-]+)"/#).map { String($0.1).replacing("-", with: "_") })
        }
        var targets = manifest.matches(of: #/\blibrary\("(\w+)"/#).map { found in
            Target(name: String(found.1), path: "Sources/Platform/C/\(found.1)", needs: [])
        }
        for found in manifest.matches(of: #/\bmodule\(\s*"(\w+)",\s*in: "(\w+)"(?:,\s*needs: \[([^\]]*)\])?/#) {
            targets.append(
                Target(name: String(found.1), path: "Sources/\(found.2)/\(found.1)", needs: names(found.3)))
        }
        for found in manifest.matches(of: #/\bprogram\(\s*"([\w-]+)",\s*in: "(\w+)",\s*needs: \[([^\]]*)\]/#) {
            let name = String(found.1).replacing("-", with: "_")
            targets.append(Target(name: name, path: "workers/\(found.2)", needs: names(found.3)))
        }
        for found in manifest.matches(of: #/\btests\(\s*"(\w+)",\s*in: "(\w+)",\s*needs: \[([^\]]*)\]/#) {
            let name = "\(found.1)Tests"
            let needs = names(found.3).union(["Clocks", "TestSupport"])
            targets.append(Target(name: name, path: "Tests/\(found.2)/\(name)", needs: needs))
        }
        let plain = #/\.target\(\s*name: "(\w+)",(?:\s*dependencies: \[([^\]]*)\],)?\s*path: "([^"]+)"/#
        for found in manifest.matches(of: plain) {
            targets.append(Target(name: String(found.1), path: String(found.3), needs: names(found.2)))
        }
        return targets
    }

    private static func imports(below path: String) throws -> Set<String> {
        let folder = Project.file(path)
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(!files.isEmpty, "\(path) holds no sources")
        return try files.reduce(into: []) { imports, file in
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            let found = text.matches(of: #/^(?:@\w+ )?(?:\w+ )?import (\w+)/#.anchorsMatchLineEndings())
            imports.formUnion(found.map { String($0.1) })
        }
    }
}
