import TestSupport
import Testing

/// While the inspector imported the ports of the worker, it had 4,365 symbols of Records, and linked libcrypto and
/// libidn2.
@Suite("Links of the programs that parse images", .timeLimit(.minutes(1)))
struct ParserLinkTests {
    private static let modules = ["Records", "Canonical", "ImageModel", "HTTPCache", "Ports", "Digest", "DomainNames"]
    private static let libraries = ["libcrypto.so.3", "libidn2.so.0"]

    @Test(
        "No symbol is of records or canonical URLs, and no library is linked for these",
        arguments: [("mezzotint-inspector", "ImageHeaders"), ("mezzotint-renderer", "RenderKit")])
    func children(program: String, own: String) throws {
        let linked = try LinkedProgram(program)
        for module in Self.modules {
            let found = linked.symbols(of: module)
            #expect(found.isEmpty, "\(found.count) symbols of \(module), such as \(found.first ?? "")")
        }
        #expect(linked.libraries.intersection(Self.libraries) == [])
        // A stripped program would have no symbols of any module.
        #expect(linked.symbols(of: own).count > 100)
        #expect(linked.libraries.contains("libc.so.6"))
    }

    @Test("Beside the language's own libraries the inspector needs libseccomp and libbrotlidec alone")
    func inspector() throws {
        let own = [
            "libswift", "libdispatch.", "libBlocksRuntime.", "libc.", "libm.", "libstdc++.", "libgcc_s.", "ld-linux",
        ]
        let needed = try LinkedProgram("mezzotint-inspector").libraries.filter { name in
            !own.contains { name.hasPrefix($0) }
        }
        #expect(needed == ["libbrotlidec.so.1", "libseccomp.so.2"])
    }

    @Test("The worker has all of them, so the search finds what is linked")
    func worker() throws {
        let linked = try LinkedProgram("mezzotint-worker")
        for module in Self.modules { #expect(linked.symbols(of: module).count > 20, "\(module)") }
        #expect(linked.symbols(of: "Records").count > 1_000)
        #expect(linked.libraries.isSuperset(of: Self.libraries))
    }
}
