import Testing

@testable import CommandLine

/// A program of every shape: groups, options with values and choices, repeats, optional and repeating arguments.
private let program = Command(
    "press", abstract: "Print pictures.", options: Option.configuration,
    subcommands: [
        Command(
            "publish", abstract: "Append jobs.", examples: ["press publish --lane slow https://a.example/b.jpg"],
            arguments: [Argument("url", help: "What to fetch.", isOptional: true, isRepeating: true)],
            options: [
                Option("lane", value: "lane", help: "Who waits.", oneOf: ["fast", "slow"]),
                Option("count", short: "n", value: "number", help: "How many."), .json,
            ],
            run: { _ in .success }),
        Command(
            "dead", abstract: "Look at dead letters.",
            subcommands: [
                Command("list", abstract: "List them.", options: [.json], run: { _ in .success }),
                Command(
                    "show", abstract: "Show one.", arguments: [Argument("id", help: "Which.")], run: { _ in .failure }),
                Command("secret", abstract: "Not listed.", isHidden: true, run: { _ in .success }),
            ]),
    ])

private func arguments(_ words: String...) throws -> ParsedArguments {
    guard case .run(_, let arguments) = try program.parse(words) else { throw UsageError("asked for something else") }
    return arguments
}

@Suite("The command line: one table of commands and options", .timeLimit(.minutes(1)))
struct CommandLineTests {
    @Test("Options stand anywhere, before the command, among the arguments, and after them")
    func anywhere() throws {
        let parsed = try arguments(
            "--set", "a=1", "publish", "u", "--lane", "slow", "v", "--set=b=2=3", "--json", "-n", "-4")
        #expect(parsed.command == ["press", "publish"])
        #expect(parsed.positionals == ["u", "v"])
        #expect(parsed.values("set") == ["a=1", "b=2=3"])
        #expect(parsed.value("lane") == "slow")
        #expect(parsed.flag("json"))
        #expect(parsed.value("count") == "-4")
        #expect(try arguments("publish").positionals == [])
    }

    @Test("-- ends the options, and - is an argument")
    func ends() throws {
        #expect(try arguments("publish", "-", "--", "--lane", "--").positionals == ["-", "--lane", "--"])
    }

    @Test("The last of an option that does not repeat wins")
    func last() throws {
        #expect(try arguments("publish", "--lane", "slow", "--lane=fast").value("lane") == "fast")
    }

    @Test(
        "A wrong line is answered by one sentence that says what was probably meant",
        arguments: [
            (["publihs"], "There is no command 'publihs'. Did you mean 'publish'?"),
            (["publish", "--lnae", "slow"], "There is no option '--lnae'. Did you mean '--lane'?"),
            (
                ["publish", "--lane", "slwo"],
                "'--lane <lane>': expected fast or slow, got 'slwo'. Did you mean 'slow'?"
            ),
            (["publish", "--lane"], "'--lane <lane>' needs a value."),
            (["publish", "--lane", "--json"], "'--lane <lane>' needs a value."),
            (["publish", "--json=yes"], "'--json' takes no value."),
            (["dead"], "'press dead' needs a command: list, show."),
            ([], "'press' needs a command: publish, dead."),
            (["dead", "show"], "Missing argument '<id>'."),
            (["dead", "list", "more"], "Unexpected argument 'more'."),
            (["xyzzy"], "There is no command 'xyzzy'."),
        ] as [([String], String)])
    func wrong(words: [String], sentence: String) {
        #expect(throws: UsageError(sentence)) { try program.parse(words) }
    }

    @Test(
        "The version is told wherever it is asked for, and the program's own help names it",
        arguments: [[], ["dead"], ["publish", "u"]])
    func version(words: [String]) throws {
        guard case .version = try program.parse(words + ["--version"]) else {
            Issue.record("--version asks for something else")
            return
        }
        #expect(
            Command.helpScreen(path: [program]).contains("  -h, --help, --version Show this help, or the version.\n"))
        #expect(!Command.helpScreen(path: [program, program.subcommands[0]]).contains("--version"))
    }

    @Test("A number outside its range is refused with the range", arguments: ["0", "11", "many", "1.5", ""])
    func number(text: String) throws {
        let parsed = try arguments("publish", "--count", text)
        #expect(throws: UsageError("--count: expected a whole number from 1 to 10, got '\(text)'.")) {
            try parsed.number("count", in: 1...10)
        }
        #expect(try arguments("publish", "--count", "10").number("count", in: 1...10) == 10)
    }

    @Test(
        "Help is of the command it stands at, wherever it stands",
        arguments: [
            ["dead", "show", "-h"], ["--help", "dead", "show"], ["help", "dead", "show"], ["dead", "--help", "show"],
        ])
    func help(words: [String]) throws {
        guard case .help(let path) = try program.parse(words) else { throw UsageError("no help") }
        #expect(path.map(\.name) == ["press", "dead", "show"])
    }

    @Test("A help screen names everything that is not hidden, within 80 columns")
    func screen() throws {
        let screen = Command.helpScreen(path: [program, program.subcommands[0]])
        #expect(
            screen == """
                OVERVIEW: Append jobs.

                USAGE: press publish [--lane <lane>] [--count <number>] [--json] [<options>]
                       [<url> ...]

                ARGUMENTS:
                  <url>                 What to fetch.

                OPTIONS:
                  --config <file>       Read settings from this YAML file.
                  --set <key=value>     Override one setting; may be repeated.
                  --lane <lane>         Who waits.
                  -n, --count <number>  How many.
                  --json                Print JSON instead of text.
                  -h, --help            Show this help.

                EXAMPLE: press publish --lane slow https://a.example/b.jpg

                """)
        let group = Command.helpScreen(path: [program, program.subcommands[1]])
        #expect(group.contains("list") && group.contains("show") && !group.contains("secret"))
    }

    @Test("Long help breaks at spaces below its own column")
    func wrapping() {
        let text = Command.wrap(String(repeating: "word ", count: 30), indent: 24)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(
            text.split(separator: "\n").dropFirst().allSatisfy {
                $0.hasPrefix(String(repeating: " ", count: 24) + "word")
            })
    }

    @Test("Exit codes are those that scripts rely on: 0 done, 1 failed, 2 wrong usage")
    func codes() async {
        #expect(await program.run(["dead", "list"]).rawValue == 0)
        #expect(await program.run(["dead", "show", "x"]).rawValue == 1)
        #expect(await program.run(["dead", "shwo", "x"]).rawValue == 2)
    }

    @Test("The completion script offers commands, options and values", arguments: ["bash", "zsh"])
    func completion(shell: String) throws {
        guard case .completion(shell) = try program.parse(["--generate-completion-script", shell, "dead", "list"])
        else {
            throw UsageError("no completion")
        }
        let script = program.completionScript(shell: shell)
        #expect(script.contains("\"press dead\") words=\"list show --config --set --help\""))
        #expect(script.contains("\"press publish --lane\") words=\"fast slow\""))
    }
}

@Suite("Tables for people", .timeLimit(.minutes(1)))
struct TextTableTests {
    @Test("Columns are aligned, numbers to the right, and no line ends with spaces")
    func aligned() {
        let text = TextTable.text(
            ["TOPIC", "RECORDS", "OWNER"], [["jobs.fast", "7", ""], ["dead", "1200", "pid 1"]])
        #expect(text == "TOPIC      RECORDS  OWNER\njobs.fast        7\ndead          1200  pid 1\n")
        #expect(TextTable.text([]) == "")
    }
}

@Suite("Spelling: what was probably meant", .timeLimit(.minutes(1)))
struct SpellingTests {
    @Test(
        "The nearest name within a few slips",
        arguments: [
            ("fetch.alow", "fetch.allow"), ("fetch.allwo", "fetch.allow"), ("Fetch.Allow", "fetch.allow"),
            ("fetch.bytelimit", "fetch.byteLimit"), ("zzz", nil), ("", nil),
        ] as [(String, String?)])
    func nearest(word: String, meant: String?) {
        #expect(Spelling.nearest(to: word, among: ["fetch.allow", "fetch.byteLimit", "data"]) == meant)
    }
}
