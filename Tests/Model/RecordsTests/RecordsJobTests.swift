import Canonical
import Failures
import Foundation
import ImageModel
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("Records: jobs", .timeLimit(.minutes(2)))
struct RecordsJobTests {
    private let intake = Intake(rules: CanonicalRules())
    private static let url = "http://origin.example/a%20b.jpg"

    private func job(_ body: String, _ topic: Topic = .jobsFast, headers: RecordHeaders = []) throws(JobFailure) -> Job
    {
        try intake.job(from: Fixture.record(topic, value: Array(body.utf8), headers: headers))
    }

    @Test("A job is what its record says, in canonical form")
    func whole() throws {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let job = try job(
            #"{"url":"HTTP://Origin.Example:80/a%20b.jpg#top","variants":["640x480.webp","160y160-q80.jpeg","640x480-q80.webp"],"#
                + #""lane":"fast","id":"body","expires":1795256916007}"#,
            headers: [RecordHeader("ce_id", "header"), RecordHeader("traceparent", trace)])
        let plain = try intake.job(url: Self.url, variants: [Fixture.spec], id: "x", lane: .fast)
        #expect(job.id == "header" && job.lane == .fast && job.expires == 1_795_256_916_007 && job.traceparent == trace)
        #expect(job.url == "HTTP://Origin.Example:80/a%20b.jpg" && job.source == plain.source)
        #expect(job.variants.map(\.description) == ["640x480-q80.webp", "160y160-q80.jpg"])
    }

    @Test("What a job accepts goes into its open variants, and so into the log")
    func accept() throws {
        let job = try job(
            #"{"url":"\#(Self.url)","accept":"image/webp,*/*;q=0.8","variants":["640x0.auto","90x0-avif.auto","full.png"]}"#
        )
        #expect(job.variants.map(\.description) == ["640x0-webp.auto", "90x0-avif-webp.auto", "full.png"])
        #expect(try self.job(String(decoding: job.body, as: UTF8.self)).variants == job.variants)
    }

    @Test("Regions go into crops that name no place, and so into the log; a dialect's crop is one, too")
    func regions() throws {
        let regions = #""regions":[[0.5,0.1,0.1,0.2],[0.8,0.2,0.4,0.2]]"#
        let focus = "focus800_200_200_200_500_100_100_200"
        let variants = [
            "160y160.jpg", "160y160-north.jpg", "160x160.jpg", "160y160-smart.jpg", "90y90-\(focus).jpg", "90y90.jpg",
        ]
        let list = variants.map { "\"\($0)\"" }.joined(separator: ",")
        let job = try job(#"{"url":"\#(Self.url)","variants":[\#(list)],\#(regions)}"#)
        #expect(
            job.variants.map(\.description) == [
                "160y160-q80-\(focus).jpg", "160y160-q80-axis5_0.jpg", "160x160-q80.jpg", "160y160-q80-smart.jpg",
                "90y90-q80-\(focus).jpg",
            ])
        #expect(try self.job(String(decoding: job.body, as: UTF8.self)).variants == job.variants)
        let url = "http://origin.example/a.jpg?imageView=1&thumbnail=320y320&type=webp"
        #expect(
            try self.job(#"{"url":"\#(url)",\#(regions)}"#).variants.map(\.description) == [
                "320y320-q80-\(focus)-still.webp"
            ])
        for wrong in [
            "[[0,0,1]]", "[[0,0,0,0.5]]", "[[1,0,0.5,0.5]]", "[0,0,1,1]",
            "[\((0...64).map { _ in "[0,0,1,1]" }.joined(separator: ","))]",
        ] {
            #expect(throws: JobFailure.self) {
                try self.job(#"{"url":"\#(Self.url)","variants":["9y9.jpg"],"regions":\#(wrong)}"#)
            }
        }
    }

    /// Seen to fail: "expected an array, found null" of a field that is an array.
    @Test(
        "A region that is none is told what each region is",
        arguments: [
            ("null", "null"), ("{}", "an object"), ("0.5", "a number"), ("[null,0,1,1]", "null"),
            ("[\"a\",0,1,1]", "a string"), ("[0,0,1]", "\"[0.0, 0.0, 1.0]\""),
        ])
    func noRegion(region: String, found: String) {
        let body = #"{"url":"\#(Self.url)","variants":["9y9.jpg"],"regions":[\#(region)]}"#
        let failure = #expect(throws: JobFailure.self) { try self.job(body) }
        let words =
            "\"regions\": expected each region as [x, y, width, height], in fractions of the source's sides from 0 to 1, found \(found) at byte "
        #expect(failure?.description.contains(words) == true, "\(String(describing: failure))")
    }

    @Test("The id is the header's, or the body's, or the record's place")
    func ids() throws {
        let body = #"{"url":"\#(Self.url)","variants":["full.png"]}"#
        #expect(try job(body).id == "jobs.fast-3-17")
        #expect(try job(body.replacing("}", with: #","id":"b"}"#)).id == "b")
        #expect(try job(body.replacing("}", with: #","id":"b"}"#), headers: [RecordHeader("ce_id", "h")]).id == "h")
    }

    @Test("The lane is the topic's; on retry, the header's")
    func lanes() throws {
        let body = #"{"url":"\#(Self.url)","variants":["full.png"],"lane":"fast"}"#
        #expect(try job(body, .jobsSlow).lane == .slow)
        #expect(try job(body.replacing("fast", with: "slow"), .jobsFast).lane == .fast)
        #expect(try job(body, .retry, headers: [RecordHeader("mz_lane", "fast")]).lane == .fast)
        #expect(try job(body, .retry).lane == .slow)
    }

    @Test("A dialect URL brings its own variant where the job names none")
    func dialect() throws {
        let url = "http://origin.example/a.jpg?imageView=1&thumbnail=320x320&quality=80&type=webp"
        let own = try job(#"{"url":"\#(url)"}"#)
        #expect(
            own.variants.map(\.description) == ["320x320-q80-still.webp"] && own.url == "http://origin.example/a.jpg")
        #expect(try job(#"{"url":"\#(url)","variants":["full.png"]}"#).variants.map(\.description) == ["full.png"])
        #expect(throws: JobFailure.noVariants(url: "http://origin.example/a.jpg")) {
            try job(#"{"url":"\#(url)","variants":[]}"#)
        }
        #expect(try intake.job(url: url, variants: [], id: "x", lane: .slow).variants == own.variants)
    }

    @Test(
        "Invalid jobs are refused with a code and a sentence",
        arguments: [
            ("", "job.not-json", "byte 0"), ("[]", "job.not-json", "not a JSON object: it is an array."),
            ("\"x\"", "job.not-json", "it is a string."),
            ("{}", "job.missing-field", "\"url\""), (#"{"variants":["full.png"]}"#, "job.missing-field", "\"url\""),
            (#"{"url":"http://a.example/"}"#, "job.no-variants", "http://a.example/"),
            (#"{"url":"http://a.example/","variants":[]}"#, "job.no-variants", "Name at least one"),
            (
                #"{"url":"http://a.example/","variants":["full.png"]} x"#, "job.not-json",
                "expected the end of the text at byte 52"
            ),
            (
                #"{"url":1,"variants":["full.png"]}"#, "job.bad-value",
                "\"url\": expected a string, found a number at byte 7."
            ),
            (#"{"url":null,"variants":["full.png"]}"#, "job.missing-field", "\"url\""),
            (#"{"url":"http://a.example/","variants":null}"#, "job.no-variants", "http://a.example/"),
            (
                #"{"url":"http://a.example/","variants":[null]}"#, "job.bad-value",
                "\"variants\": expected a string, found null"
            ),
            (#"{"url":"http://a.example/","variants":["full.png"],"expiry":null}"#, "job.unknown-field", "\"expiry\""),
            (#"{"url":"http://a.example/","lane":null,"lane":null}"#, "job.repeated-field", "\"lane\""),
            (
                #"{"url":"http://a.example/","variants":"full.png"}"#, "job.bad-value",
                "\"variants\": expected an array, found a string"
            ),
            (
                #"{"url":"http://a.example/","variants":[1]}"#, "job.bad-value",
                "\"variants\": expected a string, found a number"
            ),
            (
                #"{"url":"http://a.example/","variants":["full.png"],"lane":"medium"}"#, "job.bad-value",
                "\"lane\": expected fast or slow, found \"medium\" at byte"
            ),
            (
                #"{"url":"http://a.example/","variants":["full.png"],"expires":"soon"}"#, "job.bad-value",
                "\"expires\": expected Unix time in milliseconds, found a string at"
            ),
            (
                #"{"url":"http://a.example/","variants":["full.png"],"expires":1700000000}"#, "job.bad-value",
                "\"expires\": 1700000000 is a time in 1970. Give milliseconds."
            ),
            (
                #"{"url":"http://a.example/","variants":["full.png"],"expires":1.5}"#, "job.bad-value",
                "\"expires\": expected Unix time in milliseconds, found 1.5 at"
            ),
            (
                #"{"url":"http://a.example/","variants":["full.png"],"expires":99999999999999999999}"#, "job.bad-value",
                "\"expires\": expected Unix time in milliseconds, found 99999999999999999999 at"
            ),
            (
                #"{"url":"http://a.example/","variants":["full.png"],"retryFor":-1}"#, "job.bad-value",
                "\"retryFor\": expected a whole number from 0 to 2592000000, found -1 at byte"
            ),
            (#"{"url":"http://a.example/","variants":["full.png"],"id":""}"#, "job.bad-value", "\"id\""),
            (#"{"url":"http://a.example/","variants":["full.png"],"id":"a\nb"}"#, "job.bad-value", "\"id\""),
            (#"{"url":"http://a.example/","variants":["full.png"],"expiry":1}"#, "job.unknown-field", "\"expiry\""),
            (
                #"{"url":"http://a.example/","url":"http://b.example/","variants":["full.png"]}"#, "job.repeated-field",
                "\"url\""
            ),
            (#"{"url":"http://a.example/","variants":["0x0.webp"]}"#, "spec.size", "0x0"),
            (#"{"url":"http://a.example/","variants":["99999x1.webp"]}"#, "spec.size", "99999x1"),
            (#"{"url":"http://a.example/","variants":["full.png","640x480.bmp"]}"#, "spec.format", "bmp"),
            (#"{"url":"http://u:p@a.example/","variants":["full.png"]}"#, "canonical.userinfo", "user name"),
            (#"{"url":"http://a.example/\u0000","variants":["full.png"]}"#, "canonical.forbidden-byte", "control byte"),
            (#"{"url":"","variants":["full.png"]}"#, "canonical.empty", "empty"),
            (#"{"url":"ftp://a.example/","variants":["full.png"]}"#, "canonical.scheme", "ftp"),
        ])
    func refused(body: String, code: String, says words: String) {
        let failure = #expect(throws: JobFailure.self) { try job(body) }
        #expect(failure?.code == code)
        #expect(failure?.description.contains(words) == true, "\(failure?.description ?? "")")
        #expect(failure?.verdict == .deadLetter)
        #expect((JobFailure.catalogue + CanonicalFailure.catalogue).contains { $0.code == failure?.code })
    }

    @Test("A byte order mark before a job is skipped")
    func byteOrderMark() throws {
        let body = #"{"url":"\#(Self.url)","variants":["full.png"]}"#
        #expect(try job("\u{FEFF}" + body) == job(body))
        let refused = Fixture.record(.jobsFast, value: Array(("\u{FEFF}" + body.replacing("full", with: "0x0")).utf8))
        #expect(intake.url(ofRefused: refused)?.fetched == Self.url)
    }

    @Test("The field retryFor is read by its name before 0.2.0, too")
    func formerName() throws {
        func retryFor(_ name: String) throws -> Duration? {
            try job(#"{"url":"\#(Self.url)","variants":["full.png"],"\#(name)":2500}"#).retryFor
        }
        #expect(try retryFor("giveUp") == .milliseconds(2_500) && retryFor("retryFor") == .milliseconds(2_500))
    }

    @Test("Optional fields that are null count as absent")
    func nulls() throws {
        let body = #"{"url":"\#(Self.url)","variants":["full.png"]"#
        let nulls = ["accept", "regions", "lane", "id", "expires", "retryFor", "freshness", "fallback"].map {
            ",\"\($0)\": null"
        }
        #expect(try job(body + nulls.joined() + "}") == job(body + "}"))
        let url = "http://origin.example/a.jpg?imageView=1&thumbnail=320x320&type=webp"
        #expect(try job(#"{"url":"\#(url)","variants":null}"#) == job(#"{"url":"\#(url)"}"#))
    }

    @Test(
        "What serializers make of a job is named, with what to do",
        arguments: [
            (
                [0, 0, 0, 0, 7] + Array("{}".utf8),
                "Confluent's wire format (0, and the schema id 7). Let its producer use"
            ),
            ([0, 0, 1, 0, 0, 0x0A, 0x61], "schema id 65536"), ([0xFF, 0xFE, 0x7B, 0, 0x7D, 0], "it is UTF-16"),
            ([0xFE, 0xFF, 0, 0x7B, 0, 0x7D], "it is UTF-16"), ([0x7B, 0, 0x22, 0, 0x7D, 0], "it is UTF-16"),
            ([0, 0x7B, 0, 0x22, 0, 0x7D], "it is UTF-16"), ([0x1F, 0x8B, 8, 0, 0, 0], "gzip"),
        ] as [([UInt8], String)])
    func serializers(bytes: [UInt8], words: String) {
        let failure = #expect(throws: JobFailure.self) {
            try intake.job(from: Fixture.record(.jobsFast, value: bytes))
        }
        #expect(failure?.code == "job.not-json")
        #expect(failure?.description.contains(words) == true, "\(failure?.description ?? "")")
    }

    @Test("A job that is no JSON further on is called that, not by its bad variant")
    func firstThingsFirst() {
        let failure = #expect(throws: JobFailure.self) { try job(#"{"variants":["0x0.webp"],"url""#) }
        #expect(failure?.code == "job.not-json")
    }

    @Test("Ids of workers' own jobs are no publisher's: in a header, in a body, on a line; retries have them")
    func reserved() throws {
        let body = #"{"url":"\#(Self.url)","variants":["full.png"]}"#
        let own = Array(#"{"url":"\#(Self.url)","variants":["full.png"],"id":"mezzotint.refresh/1"}"#.utf8)
        let header: RecordHeaders = [RecordHeader("ce_id", Job.staleRefreshPrefix + "1")]
        let refused = JobFailure.reservedID(Job.staleRefreshPrefix + "1")
        #expect(throws: refused) { try job(body, headers: header) }
        // Whatever else is wrong: the outcome of what is refused goes under the header's id.
        for wrong in [
            "", "{", #"{"url":"\#(Self.url)","variants":["0x0.webp"]}"#, #"{"url":"a","variants":["full.png"]}"#,
        ] {
            #expect(throws: refused) { try job(wrong, headers: header) }
        }
        #expect(refused.isUntrusted && refused.code == "job.reserved-id" && refused.description.contains("another id"))
        #expect(throws: JobFailure.reservedID("mezzotint.refresh/1")) {
            try intake.job(from: Fixture.record(.jobsSlow, value: own))
        }
        #expect(throws: JobFailure.reservedID("mezzotint.refresh/1")) {
            try intake.job(line: own, id: "x", lane: .fast)
        }
        let retried = try intake.job(from: Fixture.record(.retry1m, value: Array(body.utf8), headers: header))
        #expect(retried.isStaleRefresh)
    }

    @Test("A record without a value, with a wrong id in its header, or too large is refused")
    func limits() throws {
        #expect(throws: JobFailure.empty) { try intake.job(from: Fixture.record(.jobsFast, value: nil)) }
        let body = #"{"url":"\#(Self.url)","variants":["full.png"]}"#
        for id in ["", "a\u{0}", String(repeating: "x", count: 257)] {
            let failure = #expect(throws: JobFailure.self) { try job(body, headers: [RecordHeader("ce_id", id)]) }
            #expect(failure?.code == "job.bad-value")
        }
        let padding = RecordLimits.jobBytes - body.utf8.count
        #expect(try job(body + String(repeating: " ", count: padding)).variants.count == 1)
        #expect(throws: JobFailure.tooLarge(bytes: RecordLimits.jobBytes + 1)) {
            try job(body + String(repeating: " ", count: padding + 1))
        }
        #expect(throws: JobFailure.tooLarge(bytes: 10_000_000)) { try job(String(repeating: "[", count: 10_000_000)) }
    }

    @Test("Sixty-four variants are a job, one more is none, and repeats do not count")
    func variantLimit() throws {
        func body(_ count: Int) -> String {
            let specs = (1...count).flatMap { ["\"\($0)x0.webp\"", "\"\($0)x0-q80.webp\""] }
            return #"{"variants":[\#(specs.joined(separator: ","))],"url":"\#(Self.url)"}"#
        }
        #expect(try job(body(64)).variants.count == 64)
        #expect(throws: JobFailure.tooManyVariants) { try job(body(65)) }
        #expect(throws: JobFailure.tooManyVariants) {
            try intake.job(
                url: Self.url, variants: (1...65).map { VariantSpec(width: $0, height: 0, format: .png) }, id: "x",
                lane: .fast)
        }
    }

    @Test(
        "Lists of variants that were read before make the same jobs as by themselves, and refused ones are refused again"
    )
    func recent() {
        let lists = [
            #"["640x480-q80.webp"]"#, #"[ "640x480-q80.webp" ]"#, #"["640x480-q80.webp","8x8-q80.jpg"]"#,
            #"["640x0.auto"]"#, #"["640x480-q80.webp"#, #"["640x480-q80.webp"}"#, #"["nothing"]"#, "[]",
        ]
        var recent = RecentParts()
        for number in 0..<64 {
            let list = lists[(number * 5 + number / 8) % lists.count]
            let accept = number % 3 == 0 ? #","accept":"image/avif""# : ""
            let body = #"{"url":"https://a.example/\#(number).jpg","variants":\#(list)\#(accept)}"#
            let record = Fixture.record(.jobsFast, value: Array(body.utf8))
            let alone = Result { () throws(JobFailure) in try intake.job(from: record) }
            #expect(Result { () throws(JobFailure) in try intake.job(from: record, &recent) } == alone)
        }
    }

    @Test("A published job comes back as it was, in its source's partition", arguments: [Lane.fast, .slow])
    func published(lane: Lane) throws {
        let line = Array(#"{"url":"\#(Self.url)","variants":["640x480.webp"],"expires":12}"#.utf8)
        var sent = try intake.job(line: line, id: "made-1", lane: lane)
        sent.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let record = sent.newRecord(partitions: 8, at: 1_795_256_916_007)
        #expect(record.topic == .jobs(lane) && record.partition == sent.source.partition(of: 8))
        #expect(Fixture.text(record.key) == sent.source.hex)
        #expect(Fixture.text(record.value) == #"{"url":"\#(Self.url)","variants":["640x480-q80.webp"],"expires":12}"#)
        #expect(try intake.job(from: Fixture.read(record)) == sent)
        #expect(
            record.headers.map(\.name) == [
                "ce_specversion", "ce_source", "ce_type", "content-type", "ce_id", "ce_time", "traceparent",
            ])
    }

    @Test("A line's own words go before the command's")
    func lineDefaults() throws {
        let bare = Array(#"{"url":"\#(Self.url)"}"#.utf8)
        let full = Array(#"{"url":"\#(Self.url)","variants":["full.png"],"lane":"slow","id":"own"}"#.utf8)
        let given = try intake.job(line: bare, id: "made", lane: .fast, variants: [Fixture.spec])
        #expect(given.id == "made" && given.lane == .fast && given.variants == [Fixture.spec])
        let own = try intake.job(line: full, id: "made", lane: .fast, variants: [Fixture.spec])
        #expect(own.id == "own" && own.lane == .slow && own.variants.map(\.description) == ["full.png"])
    }

    @Test(
        "A refused record still has an id, and the URL that it names if that is one",
        arguments: [
            (#"{"url":"http://a.example/b","variants":["0x0.webp"]}"#, "given", "given", "http://a.example/b"),
            (#"{"id":"x","url":"http://a.example/b",,,"#, nil, "jobs.fast-3-17", "http://a.example/b"),
            (#"{"url":"http://user:secret@a.example/b","variants":["full.png"]}"#, "", "jobs.fast-3-17", nil),
            (#"{"url":"http://a.example/\u001b[2J"}"#, "a\u{7}", "jobs.fast-3-17", nil),
            (#"{"url":1}"#, nil, "jobs.fast-3-17", nil), ("", nil, "jobs.fast-3-17", nil),
            ("[", nil, "jobs.fast-3-17", nil),
        ] as [(String, String?, String, String?)])
    func refusedRecord(body: String, header: String?, id: String, url: String?) {
        let headers: RecordHeaders = header.map { [RecordHeader("ce_id", $0)] } ?? []
        let record = Fixture.record(.jobsFast, value: Array(body.utf8), headers: headers)
        #expect(intake.id(ofRefused: record) == id)
        #expect(intake.url(ofRefused: record)?.fetched == url)
    }

    @Test("200,000 mutated records trap nowhere, and each is a job or a refusal of the catalogue")
    func mutations() async {
        let codes = Set((JobFailure.catalogue + CanonicalFailure.catalogue).map(\.code))
        var random = SeededRandom(seed: 6)
        let body = Array(
            #"{"url":"http://a.example/b.jpg?imageView=1&thumbnail=80x80","variants":["640x480-q80.webp"],"lane":"fast","id":"a","expires":1}"#
                .utf8)
        let pieces = [
            "{", "}", "[", "]", "\"", "\\", ",", "\\ud800", "-", "0", "9e99", "\u{0}", "é", "%", "//", "@", "x",
        ].map { Array($0.utf8) }
        var jobs = 0
        for i in 0..<200_000 {
            // Other tests wait for this thread.
            if i % 1_000 == 0 { await Task.yield() }
            var text = body
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let at = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: text[at] = UInt8.random(in: 0...255, using: &random)
                case 1: text.remove(at: at)
                case 2: text.insert(contentsOf: pieces.randomElement(using: &random)!, at: at)
                default: text.swapAt(at, Int.random(in: 0..<text.count, using: &random))
                }
            }
            do throws(JobFailure) {
                let job = try intake.job(from: Fixture.record(.jobsFast, value: text))
                #expect(!job.variants.isEmpty)
                jobs += 1
            } catch {
                #expect(codes.contains(error.code), "\(error)")
            }
        }
        #expect(jobs > 2_000 && jobs < 180_000)
    }
}
