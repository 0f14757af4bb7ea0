import Foundation
import TestSupport
import Testing

@Suite("README.md", .timeLimit(.minutes(1)))
struct ReadmeTests {
    /// A shell whose signals are not blocked, as those of a test's children are: the example ends its origin by one.
    private static let shell =
        "import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); os.execv('/bin/bash', ['bash', '-e', '-c', sys.argv[1]])"

    /// The blocks of code below a heading.
    private static func blocks(below heading: String) throws -> [String] {
        let page = try Project.text("README.md")
        let section = try #require(page.components(separatedBy: "\n## \(heading)\n").dropFirst().first)
            .components(separatedBy: "\n## ")[0]
        let parts = section.components(separatedBy: "```\n")
        return stride(from: 1, to: parts.count, by: 2).map { parts[$0] }
    }

    @Test("The commands of its example, run as they stand on a free port, end within seconds with both variants stored")
    func example() throws {
        let blocks = try Self.blocks(below: "By hand")
        try #require(blocks.count == 3)
        let build = "ops/install\nswift build -c release\nPATH=$PWD/.build/release:$PATH\n"
        #expect(blocks[0].hasPrefix(build))
        let port = try #require((20_000..<31_000).shuffled().first(where: KafkaBroker.isFree))
        // The programs are built already, and another test may use the port.
        let commands = (String(blocks[0].dropFirst(build.count)) + blocks[1]).replacing("8000", with: "\(port)")

        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            at: folder.url.appending(path: "examples"), withDestinationURL: Project.file("examples"))
        let begun = ContinuousClock.now
        let ended = try Built.run(
            "/usr/bin/python3", ["-c", Self.shell, "trap 'kill $(jobs -p) || true' EXIT\n" + commands], in: folder.url,
            environment: ["PATH": "\(Built.folder.path):/usr/bin:/bin"])
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ContinuousClock.now - begun < .seconds(20))

        // The listing shows what the page shows, to the first figure that another encoder may write.
        let shown = blocks[2].split(separator: "\n").filter { !$0.hasPrefix("SPEC ") }
            .map { $0.components(separatedBy: "  …")[0] }
        for line in shown { #expect(ended.output.contains(line), "\(line) is not in \(ended.output)") }
        let root = try #require(ended.output.firstMatch(of: #/\nThe store: (.+)\n/#)).1
        let files = ended.output.matches(of: #/\n(?:1280x1280|160y160)-q80\.webp .* (\S+)/#).map { String($0.1) }
        #expect(files.count == 2)
        for file in files { #expect(FileManager.default.fileExists(atPath: folder.file("\(root)/\(file)")), "\(file)") }
    }
}
