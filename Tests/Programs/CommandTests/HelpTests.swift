import Foundation
import TestSupport
import Testing

@Suite("Help: every command of every program, on one screen", .timeLimit(.minutes(1)))
struct HelpTests {
    @Test(
        "Each fits 80 columns and 24 lines, or has a line for each command, and shows an example",
        arguments: [
            "mezzotint", "mezzotint-worker", "mezzotint-renderer", "mezzotint-inspector", "mezzotint-lagwatch",
            "mezzotint-bench", "mezzotint-demo",
        ])
    func screens(program: String) throws {
        var paths: [[String]] = [[]]
        var seen = 0
        while let path = paths.popLast() {
            let ended = try Built.run(program, path + ["--help"])
            #expect(ended.status == 0)
            let lines = ended.output.split(separator: "\n", omittingEmptySubsequences: false)
            // The last line ends with a line end.
            let commands = Self.commands(lines)
            #expect(lines.count - 1 <= max(24, commands.count + 12), "\(path) takes \(lines.count - 1) lines")
            #expect(lines.allSatisfy { $0.count <= 80 }, "\(path) is wider than 80 columns")
            #expect(
                ended.output.contains("OVERVIEW: ")
                    && ended.output.contains("USAGE: \(([program] + path).joined(separator: " "))"))
            #expect(ended.output.contains("EXAMPLE"), "\(path) has no example")
            if path.isEmpty {
                #expect(ended.output.contains("--version"))
                #expect(try Built.run(program, ["--version"]).output == "\(program) 0.2.0\n")
            }
            paths += commands.map { path + [$0] }
            seen += 1
        }
        #expect(seen > (program == "mezzotint" ? 10 : 0))
    }

    /// The names below SUBCOMMANDS.
    private static func commands(_ lines: [Substring]) -> [String] {
        guard let start = lines.firstIndex(of: "SUBCOMMANDS:") else { return [] }
        return lines[(start + 1)...].prefix { !$0.isEmpty }.filter { $0.prefix(3).last != " " }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
    }

    @Test(
        "Wrong usage is one sentence on standard error, and status 2",
        arguments: [
            ([], "mezzotint: 'mezzotint' needs a command: "), (["publihs"], "Did you mean 'publish'?"),
            (["outcomes", "--job", "a", "--url", "http://a/"], "Give either --job ID or --url URL."),
            (["publish", "--timeout", "1m", "http://a/"], "--timeout requires --wait."),
            (["publish", "--wait", "--timeout", "25h", "http://a/"], "a duration up to 24h, such as 10m, got '25h'."),
            (["dead", "replay", "a", "--rate", "0"], "--rate: expected a whole number from 1 to 1000000, got '0'."),
            (["lag", "--jsno"], "Did you mean '--json'?"), (["normalise"], "Missing argument '<url>'."),
            (["publish", "--lane", "middle", "u"], "'--lane <lane>': expected fast or slow, got 'middle'."),
            (["publish", "--variants", "0x0", "u"], "0x0"),
            (
                ["dead", "discard"],
                "Name the dead letters to discard, or give --all. See 'mezzotint dead discard --help'."
            ),
            (
                ["topics", "--set", "kafka.bootstrap=h:9092", "create", "--partitions", "x"],
                "See 'mezzotint topics create --help'."
            ),
        ] as [([String], String)])
    func usage(words: [String], sentence: String) throws {
        let ended = try Built.run("mezzotint", words)
        #expect(ended.status == 2)
        #expect(ended.output.isEmpty)
        #expect(ended.errors.contains(sentence) && ended.errors.split(separator: "\n").count == 1, "\(ended.errors)")
    }

    @Test(
        "The renderer, which nobody runs by hand, says in one sentence what is wrong, and takes --config as every program",
        arguments: [
            (["--config=x.yaml"], 0, ""), (["--config", "x.yaml"], 0, ""), ([], 2, "Nothing runs by hand here"),
            (["--confg"], 2, "There is no option '--confg'."), (["a.jpg"], 2, "Unexpected argument 'a.jpg'."),
        ] as [([String], Int32, String)])
    func renderer(words: [String], status: Int32, sentence: String) throws {
        let ended = try Built.run("mezzotint-renderer", words)
        #expect(ended.status == status)
        // The empty text is in no other, says Foundation.
        #expect(sentence.isEmpty ? ended.errors.isEmpty : ended.errors.contains(sentence))
        #expect(ended.errors.split(separator: "\n").count <= 1)
    }

    @Test("The completion script is one that bash reads, and offers the commands")
    func completion() throws {
        let folder = try TemporaryFolder()
        let script = try Built.run("mezzotint", ["--generate-completion-script", "bash"]).output
        let test =
            script + """

                COMP_WORDS=(mezzotint dead l); COMP_CWORD=2; _mezzotint; echo "${COMPREPLY[@]}"
                COMP_WORDS=(mezzotint publish --lane ""); COMP_CWORD=3; _mezzotint; echo "${COMPREPLY[@]}"
                """
        try Data(test.utf8).write(to: folder.url.appending(path: "test.bash"))
        let bash = Process()
        let pipe = Pipe()
        bash.executableURL = URL(filePath: "/bin/bash")
        bash.arguments = [folder.file("test.bash")]
        bash.standardOutput = pipe
        try bash.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        bash.waitUntilExit()
        #expect(output == "list\nfast slow\n")
    }
}
