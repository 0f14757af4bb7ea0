import Foundation
import TestSupport
import Testing

/// `ops/test` over a bundle that only writes a report: what scripts and people read of it.
@Suite("ops/test: lanes that are counted together", .timeLimit(.minutes(1)))
struct TestScriptTests {
    /// One test passes in each lane, and one is skipped; `faults` says what each other lane does besides.
    private static let bundle = #"""
        #!/bin/bash
        echo "$MEZZOTINT_TESTS ${*: -2}" >>asked
        while [ "$1" != --xunit-output ]; do shift; done
        echo "output of $2"
        name=${2##*tests-}
        for fault in "died $name" "failed $name"; do grep -qsx "$fault" faults && now=${fault% *}; done
        [ "${now:-}" != died ] || kill -SEGV $$
        {
            echo '<testsuites><testsuite name="TestResults">'
            echo "  <testcase classname=\"A.B\" name=\"quick $name\" time=\"1.5e-05\" />"
            echo "  <testcase classname=\"A.B\" name=\"absent\" time=\"0\"><skipped>NOT RUN: needs a part</skipped></testcase>"
            [ "${now:-}" != failed ] ||
                printf '  <testcase classname="A.B" name="slow" time="12.25">\n<failure message="1 &lt; 0 &amp; no" />\n<failure/>\n</testcase>\n'
            echo '</testsuite></testsuites>'
        } >"$2"
        [ "${now:-}" != failed ]
        """#
    /// What `swift build` and `swift test` are asked.
    private static let swift = #"""
        #!/bin/bash
        [ "$1" != test ] || exec .build/debug/mezzotintPackageTests.xctest "${@:2}"
        echo "/usr/include/a.h:1:2: warning: theirs"
        ! grep -qsx warned faults || echo "$PWD/Sources/A/B.swift:3:4: warning: ours"
        """#

    private func run(_ words: [String] = [], faults: String = "") throws -> (ended: Ended, asked: [String]) {
        let folder = try TemporaryFolder()
        let script = Project.file("ops/test")
        for path in ["ops", ".build/debug", "bin"] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: path), withIntermediateDirectories: true)
        }
        func place(_ path: String, at name: String) throws {
            try FileManager.default.copyItem(atPath: path, toPath: folder.file(name))
        }
        try place(script.path, at: "ops/test")
        try place(try folder.program("#!/bin/sh"), at: "ops/install")
        try place(try folder.program(Self.swift), at: "bin/swift")
        try place(try folder.program(Self.bundle), at: ".build/debug/mezzotintPackageTests.xctest")
        try Data(faults.utf8).write(to: folder.url.appending(path: "faults"))
        let ended = try Built.run(
            folder.file("ops/test"), words, in: folder.url, environment: ["PATH": "\(folder.file("bin")):/usr/bin:/bin"]
        )
        let asked = (try? String(contentsOfFile: folder.file("asked"), encoding: .utf8)) ?? ""
        return (ended, asked.split(separator: "\n").map(String.init).sorted())
    }

    @Test("All lanes are counted, what was not run is said on standard error, and the count is the last line")
    func passed() throws {
        let (ended, asked) = try run()
        #expect(ended.status == 0)
        #expect(ended.lines.last == "5 passed, 0 failed, 5 skipped")
        #expect(ended.lines.contains("waiting: output of .build/tests-waiting.xml"))
        #expect(ended.errors == "ops/test: NOT RUN: 5 of the tests: needs a part\n")
        // What four lanes take the fifth leaves: no test is run twice or not at all.
        let lanes = asked.map { $0.split(separator: " ").suffix(2) }
        #expect(lanes.map(\.first) == ["--filter", "--filter", "--filter", "--filter", "--skip"])
        let taken = lanes.dropLast().compactMap { $0.last?.dropFirst() }
        #expect(Set(try #require(lanes.last?.last).dropFirst().split(separator: "|^")) == Set(taken))
    }

    @Test(
        "A lane that fails fails the run; the slowest tests are named, the slowest first, and what failed is named last before the count"
    )
    func failed() throws {
        let ended = try run(faults: "failed computing.xml\n").ended
        #expect(ended.status == 1)
        #expect(ended.lines.last == "5 passed, 1 failed, 5 skipped")
        let slowest = try #require(ended.lines.firstIndex(of: "The 20 slowest, in seconds:"))
        #expect(ended.lines[slowest + 1] == "    12.2 A.B.slow")
        #expect(ended.lines.count == slowest + 14)
        #expect(ended.lines.dropLast().last == "FAILED A.B.slow 1 < 0 & no")
    }

    @Test("A warning of the build is told, and is a failure")
    func warned() throws {
        let ended = try run(faults: "warned\n").ended
        #expect(ended.status == 1)
        let told = try #require(ended.lines.dropLast().last)
        #expect(
            told.hasPrefix("FAILED The build has warnings: ") && told.hasSuffix("/Sources/A/B.swift:3:4: warning: ours")
        )
        #expect(ended.lines.last == "5 passed, 1 failed, 5 skipped")
    }

    @Test("A lane whose process dies is told, and is a failure; the other is counted")
    func died() throws {
        let ended = try run(faults: "died waiting.xml\n").ended
        #expect(ended.status == 139)
        let told = try #require(ended.lines.dropLast().last)
        #expect(told.hasPrefix("FAILED The waiting tests ended (status 139) before they could be counted"))
        #expect(ended.lines.last == "4 passed, 1 failed, 4 skipped")
    }

    @Test("An unknown command is refused before a build", arguments: [["fasst"], ["fast", "Settings"]])
    func unknown(words: [String]) throws {
        let (ended, asked) = try run(words)
        #expect(ended.status == 2 && asked.isEmpty)
        #expect(ended.errors.contains("expected fast, all, operations or an option of swift test"))
    }

    @Test(
        "fast and all say how often, and words go to swift test",
        arguments: [
            (["fast"], ["fast", "fast"], "2 passed, 0 failed, 2 skipped"),
            (["all"], ["all", "all", "all", "all", "all"], "5 passed, 0 failed, 5 skipped"),
            (["--filter", "One"], ["landing"], "1 passed, 0 failed, 1 skipped"),
            (["all", "--filter", "One"], ["all"], "1 passed, 0 failed, 1 skipped"),
        ])
    func words(words: [String], efforts: [String], count: String) throws {
        let (ended, asked) = try run(words)
        #expect(ended.status == 0 && ended.lines.last == Substring(count))
        #expect(asked.map { $0.prefix { $0 != " " } } == efforts.map { $0[...] })
        if words.contains("--filter") { #expect(asked[0].hasSuffix("--filter One")) }
    }
}
