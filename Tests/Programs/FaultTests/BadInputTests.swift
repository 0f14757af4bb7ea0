import Failures
import Foundation
import Glibc
import ImageModel
import Ports
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

@Suite(
    "Bad input ends as one outcome with a code and a sentence, and nothing beside it is lost", .timeLimit(.minutes(5)))
struct BadInputTests {
    /// Whatever can be done wrong in a record of a log, past what `mezzotint publish` refuses.
    static let records: [(body: String, code: String)] = [
        ("", "job.not-json"), ("{", "job.not-json"), ("null", "job.not-json"), ("[1,2]", "job.not-json"),
        ("\u{0}", "job.not-json"),
        (#"{"variants":["10x10.png"]}"#, "job.missing-field"),
        (#"{"url":"http://a.example/a.jpg"}"#, "job.no-variants"),
        (#"{"url":7,"variants":["10x10.png"]}"#, "job.bad-value"),
        (#"{"url":"http://a.example/a.jpg","variants":"10x10.png"}"#, "job.bad-value"),
        (#"{"url":"http://a.example/a.jpg","variants":[10]}"#, "job.bad-value"),
        (#"{"url":"http://a.example/a.jpg","variants":["10x10.png"],"colour":"red"}"#, "job.unknown-field"),
        (
            #"{"url":"http://a.example/a.jpg","url":"http://a.example/b.jpg","variants":["10x10.png"]}"#,
            "job.repeated-field"
        ),
        (#"{"url":"http://a.example/a.jpg","variants":["10x10.png"],"expires":"soon"}"#, "job.bad-value"),
        (#"{"url":"http://me:secret@a.example/a.jpg","variants":["10x10.png"]}"#, "canonical.userinfo"),
        (#"{"url":"http://a.example/a\u0001.jpg","variants":["10x10.png"]}"#, "canonical."),
        (#"{"url":"ftp://a.example/a.jpg","variants":["10x10.png"]}"#, "canonical.scheme"),
        (#"{"url":"http://a.example/a.jpg","variants":["0x0.png"]}"#, "spec.size"),
        (#"{"url":"http://a.example/a.jpg","variants":["99999x1.png"]}"#, "spec.size"),
        (#"{"url":"http://a.example/a.jpg","variants":["10x10.bmp"]}"#, "spec.format"),
    ]

    @Test("Malformed records, one of 10 MB among them, and good jobs between")
    func malformed() async throws {
        let place = try Workplace()
        let urls = place.draw(10)
        for (number, url) in urls.enumerated() {
            try place.publish([(url, ["24x24-q80.webp"], number % 2 == 0 ? .fast : .slow)], id: "good\(number)")
            let bad = Self.records.enumerated().filter { $0.offset % urls.count == number }.map(\.element)
            try await place.append(
                bad.map { NewRecord(topic: .jobsFast, partition: PartitionID(0), key: [1], value: Array($0.body.utf8)) }
            )
        }
        let large = Array("{\"url\":\"".utf8) + [UInt8](repeating: 0x61, count: 10 << 20)
        try await place.append([NewRecord(topic: .jobsSlow, partition: PartitionID(3), key: [2], value: large)])

        let summary = try await place.work()
        #expect(
            summary["jobs"] == 11 + Self.records.count && summary["dead"] == 1 + Self.records.count
                && summary["stored"] == 10)
        let outcomes = try await place.outcomes()
        #expect(Set(outcomes.map(\.job)).count == outcomes.count)
        #expect(outcomes.filter { $0.kind == .stored }.count == 10)
        #expect(outcomes.allSatisfy { $0.kind == .stored || $0.failure?.message.hasSuffix(".") == true })

        let deadLetters = try await place.records(.dead).map { try DeadLetter($0) }
        for (body, code) in Self.records {
            let deadLetter = try #require(deadLetters.first { $0.body == Array(body.utf8) }, "\(body)")
            #expect(deadLetter.cause.code.hasPrefix(code), "\(body): \(deadLetter.cause.code)")
            #expect(!deadLetter.cause.message.contains("secret"))
        }
        let prefix = try #require(deadLetters.first { $0.cause.code == "job.too-large" })
        #expect(prefix.body == Array(large.prefix(RecordLimits.keptPrefix)) && prefix.whole?.bytes == large.count)
    }

    @Test("Origins that answer badly")
    func origins() async throws {
        let place = try Workplace("retry.attempts=2", "fetch.byteLimit=64KiB")
        let good = place.draw(4)
        let other = try LocalOrigin()
        other.serve("/back.jpg", .redirect(place.origin.url("/there.jpg")))
        let picture = Pixels.photograph(width: 90, height: 60, seed: 4).png
        let cases: [(path: String, answer: LocalOrigin.Answer, kind: OutcomeKind, code: String)] = [
            ("/gone.jpg", .status(404), .failed, "fetch.not-found"),
            ("/forbidden.jpg", .status(403), .failed, "fetch.forbidden"),
            ("/down.jpg", .status(503), .dead, "fetch.server-error"),
            ("/empty.jpg", .bytes([]), .failed, "fetch.empty"),
            ("/text.jpg", .bytes(Array("No picture, but a letter.".utf8)), .failed, "render.unrecognised"),
            ("/half.png", .bytes(Array(picture.prefix(picture.count / 2))), .failed, "render.truncated"),
            ("/large.jpg", .bytes([UInt8](repeating: 1, count: 65 << 10)), .failed, "fetch.too-large"),
            ("/loop.jpg", .redirect("/loop.jpg"), .failed, "fetch.redirects"),
            ("/there.jpg", .redirect(other.url("/back.jpg")), .failed, "fetch.redirects"),
            ("/inside.jpg", .redirect("http://169.254.169.254/secret"), .failed, "fetch.refused-address"),
        ]
        for item in cases { place.origin.serve(item.path, item.answer) }
        let jobs = cases.map {
            (url: place.origin.url($0.path), variants: ["20x20-q80.webp", "20x20.png"], lane: Lane.fast)
        }
        try place.publish(jobs + good.map { ($0, ["20x20-q80.webp"], .slow) })
        #expect(try await place.work()["jobs"] == cases.count + good.count)
        let outcomes = try await place.outcomes()
        #expect(outcomes.count == cases.count + good.count)
        for item in cases {
            let outcome = try #require(outcomes.first { $0.url.hasSuffix(item.path) })
            #expect(outcome.kind == item.kind && outcome.failure?.code == item.code, "\(item.path): \(outcome)")
        }
        // Six requests in turn, each with a permit of its host.
        #expect(place.origin.requests(of: "/there.jpg") == 3 && other.requestCount == 3)
    }

    @Test("An AVIF of 171 bytes with an aperture of 2³² - 1 a side: nobody beside it is kept waiting, nor a restart")
    func aperture() async throws {
        let place = try Workplace()
        let good = place.draw(20)
        place.origin.serve("/bomb.avif", .bytes(Bombs.aperture, type: "image/avif"))
        let bomb = (url: place.origin.url("/bomb.avif"), variants: ["20x20-q80.webp"], lane: Lane.fast)
        try place.publish(good[..<10].map { ($0, ["20x20-q80.webp"], .fast) } + [bomb])
        let first = try await place.work()
        #expect(first["jobs"] == 11 && first["stored"] == 10 && first["failed"] == 1 && first["dead"] == 0)
        try place.publish(good[10...].map { ($0, ["20x20-q80.webp"], .fast) }, id: "later")
        let second = try await place.work()
        #expect(second["jobs"] == 10 && second["stored"] == 10)
        let told = try await place.outcomes()
        #expect(told.count == 21)
        let outcome = try #require(told.first { $0.url == bomb.url })
        #expect(outcome.kind == .failed && outcome.failure?.code == "render.malformed", "\(outcome)")
    }

    @Test(
        "Every file of malformed, formats and pngsuite ends as the golden file of the pictures says",
        .enabled(
            if: ["formats", "malformed", "pngsuite"].allSatisfy { Shared.has("images/\($0)") },
            Comment(rawValue: Shared.absent)))
    func pictures() async throws {
        let images = try #require(Shared.part("images"))
        let golden = try Project.text("Tests/Imaging/PictureTests/outcomes.golden.txt")
        let lines = golden.split(separator: "\n")
            .filter { line in ["formats/", "malformed/", "pngsuite/"].contains { line.hasPrefix($0) } }
        #expect(lines.count > 300)
        let place = try Workplace(pictures: images)
        try place.publish(
            lines.map { line in
                (place.origin.url("/" + line.prefix { $0 != ":" }), ["64x64-q80.webp", "64x64-q80.jpg"], .fast)
            })
        #expect(try await place.work()["jobs"] == lines.count)
        let outcomes = Dictionary(grouping: try await place.outcomes(), by: \.url)
        for line in lines {
            let name = String(line.prefix { $0 != ":" })
            let told = try #require(outcomes[place.origin.url("/" + name)], "\(name)")
            #expect(told.count == 1)
            let wanted = line.dropFirst(name.count + 2)
            let code = wanted.hasPrefix("render.") ? String(wanted.prefix { $0 != ":" }) : nil
            // An empty file is found out before anybody looks for a picture in it.
            if told[0].failure?.code == "fetch.empty" {
                #expect(code == "render.unrecognised")
            } else {
                #expect(told[0].failure?.code == code, "\(name): \(told[0].failure?.message ?? "stored")")
            }
            #expect(told[0].kind == (code == nil ? .stored : .failed), "\(name)")
        }
        _ = try await place.rows()
    }

    @Test(
        "A picture that is cut in its pixels is fetched once for the jobs that want the same of it",
        arguments: ["png", "auto"])
    func cut(format: String) async throws {
        let place = try Workplace()
        let picture = Pixels.photograph(width: 400, height: 300, seed: 5).png
        place.origin.serve("/cut.png", .bytes(Array(picture.prefix(picture.count / 2)), type: "image/png"))
        let worker = try place.worker(untilIdle: false)
        for number in 1...2 {
            try place.publish([(place.origin.url("/cut.png"), ["40x40.\(format)"], .fast)], id: "\(number)")
            try await eventually { try await place.outcomes().count == number }
        }
        worker.signal(SIGTERM)
        #expect(try await worker.ended().status == 0)
        let outcomes = try await place.outcomes()
        #expect(outcomes.map(\.kind) == [.failed, .failed])
        #expect(outcomes.map { $0.failure?.code } == ["render.truncated", "render.truncated"])
        #expect(place.origin.requestCount == 1)
    }
}
