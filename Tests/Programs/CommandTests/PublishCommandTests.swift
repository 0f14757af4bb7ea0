import Canonical
import EmbeddedLog
import Foundation
import ImageModel
import Ports
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("mezzotint publish", .timeLimit(.minutes(1)))
struct PublishCommandTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func publish(_ words: [String], _ input: String = "") throws -> Ended {
        try Built.run("mezzotint", ["publish", "--set", "data=data"] + words, input: Data(input.utf8), in: folder.url)
    }

    /// The jobs of a lane as the log has them, in any order of partitions.
    private func jobs(_ lane: Lane) async throws -> [Job] {
        let log = try EmbeddedLog(folder.file("data/log"))
        let intake = Intake(rules: CanonicalRules())
        var jobs: [Job] = []
        for partition in 0..<Int32(log.partitionCount) {
            let records = try await log.read(.jobs(lane), PartitionID(partition), from: 0, limit: 100_000)
            for record in records {
                let job = try intake.job(from: record)
                #expect(job.source.partition(of: log.partitionCount) == record.partition)
                #expect(record.key == Array(job.source.hex.utf8))
                jobs.append(job)
            }
        }
        await log.close()
        return jobs.sorted { $0.url.fetched < $1.url.fetched }
    }

    private struct Said: Decodable {
        let accepted, rejected: Int
        let ids: [String]

        init(_ ended: Ended) throws { self = try JSONDecoder().decode(Said.self, from: Data(ended.output.utf8)) }
    }

    @Test("Without --json the id of each accepted job is a line, and the counts are the last one")
    func ids() async throws {
        let ended = try publish(
            ["--variants", "10x10.jpg", "http://a.example/1.jpg", "ftp://a.example/", "-"],
            "\u{FEFF}{\"url\":\"http://a.example/2.jpg\",\"id\":\"mine\"}")
        #expect(ended.status == 1)
        let jobs = try await jobs(.fast)
        #expect(jobs.count == 2 && jobs[1].id == "mine")
        #expect(ended.lines.map(String.init) == jobs.map(\.id) + ["Accepted 2, rejected 1."])
    }

    @Test("URLs, objects and dialect URLs may be mixed, and what a job leaves out is as the options say")
    func mixed() async throws {
        let ended = try publish(
            ["--json", "--variants", "640x480-q80.webp,160y160.jpg", "--lane", "slow", "http://a.example/1.jpg", "-"],
            """
            http://a.example/2.jpg#part
            {"url":"http://a.example/3.jpg","variants":["320x0.png"],"lane":"fast"}

              {"url":"http://a.example/4.jpg"}\r
            {"url":"http://a.example/5.jpg?imageView&thumbnail=80x80","variants":["10x10.jpg"],"id":"mine"}
            http://a.example/6.jpg
            """)
        #expect(ended.status == 0 && ended.errors.isEmpty)
        let said = try Said(ended)
        #expect(said.accepted == 6 && said.rejected == 0 && said.ids.count == 6 && said.ids[4] == "mine")
        let slow = try await jobs(.slow)
        #expect(slow.map(\.url.fetched) == [1, 2, 4, 5, 6].map { "http://a.example/\($0).jpg" })
        #expect(slow[0].variants.map(\.description) == ["640x480-q80.webp", "160y160-q80.jpg"])
        #expect(slow[3].id == "mine" && slow[3].variants.map(\.description) == ["10x10-q80.jpg"])
        #expect(Set(slow.map(\.id)).count == slow.count)
        let fast = try await jobs(.fast)
        #expect(said.ids == [slow[0], slow[1], fast[0], slow[2], slow[3], slow[4]].map(\.id))
        #expect(
            fast.map(\.url.fetched) == ["http://a.example/3.jpg"]
                && fast[0].variants.map(\.description) == ["320x0.png"])
    }

    @Test("A dialect URL brings its own variant")
    func dialect() async throws {
        _ = try publish(["http://a.example/p.png?thumbnail=80x80&imageView=1&quality=75&type=webp&enlarge=1&quality=80"]
        )
        let job = try #require(try await jobs(.fast).first)
        #expect(job.url == "http://a.example/p.png")
        #expect(job.variants.map(\.description) == ["90x90-q80-enlarge-still.webp"])
    }

    @Test("Wrong lines are named by number, the good ones go through, and the status is 1")
    func wrong() async throws {
        let long = String(repeating: "x", count: RecordLimits.jobBytes)
        let ended = try publish(
            ["--json", "-"],
            """
            {"url":"http://a.example/1.jpg","variants":["10x10.jpg"]}
            http://a.example/2.jpg
            {"url":"http://a.example/3.jpg","variants":["0x0.jpg"]}
            {"url":"http://user:secret@a.example/4.jpg","variants":["10x10.jpg"]}
            {"url":"http://a.example/5.jpg?\(long)","variants":["10x10.jpg"]}
            {"url":"http://a.example/6.jpg","variants":["10x10.jpg"],"lane":"middle"}
            {"url":
            {"url":"http://a.example/8.jpg","variants":["10x10.jpg"]}
            """)
        #expect(ended.status == 1)
        let said = try Said(ended)
        #expect(said.accepted == 2 && said.rejected == 6)
        #expect(try await jobs(.fast).map(\.id) == said.ids)
        let places = ended.errors.split(separator: "\n").map { $0.prefix(7) }
        #expect(places == ["line 2:", "line 3:", "line 4:", "line 5:", "line 6:", "line 7:"])
        let codes = [
            "job.no-variants", "spec.size", "canonical.userinfo", "job.too-large", "job.bad-value", "job.not-json",
        ]
        for (line, code) in zip(ended.errors.split(separator: "\n"), codes) {
            #expect(line.hasSuffix("(\(code))"), "\(line)")
        }
        #expect(!ended.errors.contains("secret"))
        #expect(try await jobs(.fast).map(\.url.fetched) == ["http://a.example/1.jpg", "http://a.example/8.jpg"])
    }

    @Test("The name of a file is wrong usage, and the message has the command that reads it")
    func file() throws {
        try Data("http://a.example/1.jpg".utf8).write(to: folder.url.appending(path: "jobs.jsonl"))
        let ended = try publish(["--variants", "10x10.jpg", "http://a.example/2.jpg", "jobs.jsonl"])
        #expect(ended.status == 2 && ended.output.isEmpty)
        #expect(
            ended.errors.contains("jobs.jsonl is a file. To read jobs from it, run 'mezzotint publish - < jobs.jsonl'.")
        )
    }

    @Test("Variants may be separated by a comma and a space")
    func spaces() async throws {
        #expect(try publish(["--variants", "10x10.png, 20x20.png", "http://a.example/1.jpg"]).status == 0)
        #expect(try await jobs(.fast).first?.variants.map(\.description) == ["10x10.png", "20x20.png"])
    }

    @Test(
        "Lines in UTF-16 or in Confluent's wire format are named as that, with URLs as with JSON",
        arguments: [
            "http://a.example/1.jpg", #"{"url":"http://a.example/1.jpg","variants":["10x10.png"]}"#,
        ])
    func otherForms(line: String) throws {
        func refusals(_ input: Data) throws -> [Substring] {
            let ended = try Built.run(
                "mezzotint", ["publish", "--set", "data=data", "-"], input: input, in: folder.url)
            #expect(ended.status == 1)
            return ended.errors.split(separator: "\n")
        }
        let utf16 = "The job is not a JSON object: it is UTF-16."
        for (encoding, mark) in [(String.Encoding.utf16LittleEndian, [0xFF, 0xFE]), (.utf16BigEndian, [0xFE, 0xFF])]
            as [(String.Encoding, [UInt8])]
        {
            // As the redirections of PowerShell 5 write it.
            let text = try #require((line + "\r\n" + line + "\r\n").data(using: encoding))
            for marked in [Data(mark) + text, text] {
                let errors = try refusals(marked)
                #expect(errors.count == 2 && errors.allSatisfy { $0.contains(utf16) }, "\(errors)")
            }
        }
        let framed = try refusals(Data([0, 0, 0, 0, 7]) + Data(line.utf8))
        #expect(
            framed.count == 1 && framed[0].contains("Confluent's wire format (0, and the schema id 7)"), "\(framed)")
    }

    @Test("Of a long binary input 20 refusals are printed, then their number; behind a good job each is printed")
    func binary() throws {
        let input = Data((0..<2_708).flatMap { [0x80, UInt8($0 % 100 + 128), 0x0A] })
        let ended = try Built.run("mezzotint", ["publish", "--set", "data=data", "-"], input: input, in: folder.url)
        let lines = ended.errors.split(separator: "\n")
        #expect(ended.status == 1 && ended.output == "Accepted 0, rejected 2708.\n" && lines.count == 21)
        let good = Data("http://a.example/1.jpg?imageView&thumbnail=8x8\n".utf8)
        let mixed = try Built.run("mezzotint", ["publish", "--set", "data=data", "-"], input: good + input.prefix(90), in: folder.url)
        #expect(mixed.errors.split(separator: "\n").count == 30, "\(mixed.errors)")
        #expect(lines.last == "More lines are refused: 2688. Check that the input is text.")
    }

    @Test("A line that is no UTF-8 is refused, not repaired")
    func bytes() throws {
        let input = Data("http://a.example/".utf8) + Data([0xC3, 0x28]) + Data("\n".utf8)
        let ended = try Built.run(
            "mezzotint", ["publish", "--variants", "10x10.jpg", "-"], input: input, in: folder.url)
        #expect(ended.status == 1)
        #expect(ended.errors.hasPrefix("line 1: ") && ended.errors.contains("UTF-8"))
        #expect(ended.output == "Accepted 0, rejected 1.\n")
    }

    @Test(
        "A line of JSON that is not an object is called that, not a URL without a scheme",
        arguments: [
            ("[]", "it is an array"), (#"[{"url":"http://a.example/"}]"#, "it is an array"), ("5", "it is a number"),
            (#""http://a.example/""#, "it is a string"), ("true", "it is true or false"), ("null", "it is null"),
        ])
    func notObject(line: String, kind: String) throws {
        let ended = try publish(["-"], line + "\n")
        let sentence = "The job is not a JSON object: \(kind). Write one object for each job, in UTF-8."
        #expect(ended.status == 1 && ended.errors == "line 1: \(sentence) (job.not-json)\n")
    }

    @Test("An address without a scheme is a URL, though it begins as a number does")
    func address() throws {
        #expect(try publish(["-"], "10.0.0.1/a.jpg\n").errors.contains("(canonical.scheme)"))
    }

    @Test("Empty standard input is reported, and is no failure", arguments: ["", "\n \n"])
    func nothing(input: String) throws {
        let ended = try publish(["-"], input)
        #expect(ended.status == 0 && ended.output == "Accepted 0, rejected 0.\n")
        #expect(ended.errors == "Nothing was read from standard input.\n")
    }

    @Test("Thousands of lines on standard input all go through, each to the partition of its source")
    func many() async throws {
        let lines = (0..<5000).map { "{\"url\":\"http://a.example/\($0).jpg\",\"variants\":[\"10x10.jpg\"]}\n" }
        let ended = try publish(["--json"], lines.joined())
        let said = try Said(ended)
        #expect(said.accepted == 5000 && said.rejected == 0 && Set(said.ids).count == 5000)
        #expect(Set(try await jobs(.fast).map(\.url)).count == 5000)
    }

    @Test("A data directory that cannot be made is named, and nothing is said to be accepted")
    func unwritable() throws {
        let ended = try Built.run(
            "mezzotint", ["publish", "--set", "data=/proc/nowhere", "--variants", "10x10.jpg", "http://a.example/"])
        #expect(ended.status == 1)
        #expect(ended.output.isEmpty)
        #expect(
            ended.errors
                == "mezzotint: The log at /proc/nowhere/log cannot be opened: mkdir /proc/nowhere: No such file or directory. Set data to a directory that this user can create, read and write.\n"
        )
    }
}
