import Failures
import Foundation
import ImageModel
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

@Suite("Signatures and users of URLs are for origins alone", .timeLimit(.minutes(2)))
struct SecretURLTests {
    @Test("Neither logs nor lists nor messages have them; what is fetched and the job's own record do")
    func hidden() async throws {
        let place = try Workplace("canonical.volatile=[stamp]", "retry.attempts=2", "logging.level=trace")
        let query = "?w=1&sig=hush-hush&stamp=hush-hush"
        let picture = Workplace.picture(1).png
        place.origin.serve("/good.png" + query, .bytes(picture, type: "image/png"))
        place.origin.serve("/good.png", .bytes(picture, type: "image/png"))
        place.origin.serve("/down.png", .status(503))
        place.origin.serve("/away.png", .redirect("http://me:hush-hush@a.example/x?token=hush-hush"))
        let paths = ["/good.png", "/gone.png", "/down.png", "/away.png", "/late.png"]
        let urls = paths.map { place.origin.url($0) + query }
        try place.publish(urls.dropLast().map { ($0, ["16x16.png"], .fast) })
        let late = #"{"url":"\#(urls[4])","variants":["16x16.png"],"id":"late","expires":1}"#
        let none = #"{"url":"\#(urls[0])","id":"none","variants":[]}"#
        #expect(try place.run("publish", "-", input: late).status == 0)
        let refused = try place.run("publish", "-", input: none)
        #expect(refused.status == 1 && refused.errors.contains("/good.png?w=1&…") && !refused.errors.contains("hush"))

        let ended = try await place.worker().ended()
        #expect(
            ended.status == 0 && !ended.errors.contains("hush") && !ended.output.contains("hush"), "\(ended.errors)")
        #expect(ended.errors.contains("/gone.png?w=1&…") && ended.errors.contains("http://…@a.example/x?…"))
        for outcome in try await place.outcomes() {
            #expect(outcome.url.contains("hush") == (outcome.kind == .stored), "\(outcome)")
            #expect(outcome.failure?.message.contains("hush") != true, "\(outcome)")
        }
        for words in [["dead", "list"], ["dead", "list", "--json"], ["lag"], ["lag", "--json"]] {
            let listed = try place.run(words).output
            #expect(!listed.isEmpty && !listed.contains("hush"))
        }
        let typed = "http://me:hush-hush@a.example/?token=hush-hush"
        for words in [
            ["variants", urls[1]], ["variants", urls[0]], ["outcomes", "--url", urls[1]], ["variants", typed],
        ]
            + [["outcomes", "--url", typed], ["origins", "block", typed], ["publish", typed]]
        {
            let shown = try place.run(words)
            #expect(!(shown.output + shown.errors).contains("hush"), "\(words): \(shown.output)\(shown.errors)")
        }
        let deadLetter = try #require(try await place.records(.dead).first)
        #expect(deadLetter.header("mz_url") == place.origin.url("/down.png") + "?w=1&…")
        #expect(String(decoding: deadLetter.value ?? [], as: UTF8.self).contains(query))
    }

    @Test("A letter of an older worker, which has them, is listed without them")
    func older() async throws {
        let place = try Workplace("canonical.volatile=[stamp]")
        try place.publish([("http://a.example/", ["16x16.png"], .fast)])
        let record = try #require(try await place.records(.jobsFast).first)
        let deadLetter = DeadLetter(
            of: record, id: "old",
            cause: .init(code: "c", message: "No: http://a/?stamp=hush&sig=hush.", verdict: .fail),
            attempts: 1, url: nil, at: 1)
        var new = deadLetter.newRecord(partition: record.partition)
        new.headers.append("mz_url", "http://a/?w=1&stamp=hush&sig=hush")
        try await place.append([new])
        for words in [["dead", "list"], ["dead", "list", "--json"], ["dead", "show", "old"]] {
            let shown = try place.run(words).output
            #expect(shown.contains("http://a/?w=1&…") && !shown.contains("hush"))
        }
    }
}
