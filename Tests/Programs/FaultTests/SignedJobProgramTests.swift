import Foundation
import ImageModel
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

@Suite("Signed jobs, from mezzotint publish to the worker", .timeLimit(.minutes(2)))
struct SignedJobProgramTests {
    private let place: Workplace

    init() throws {
        place = try Workplace(
            "jobs.keys={old: {file: old.key}, new: {file: new.key}}", "jobs.sign=new", "retry.attempts=2")
        for name in ["old", "new", "stolen"] {
            try Data("the secret of \(name)\n".utf8).write(to: place.folder.url.appending(path: name + ".key"))
        }
    }

    private func publish(_ url: String, id: String, _ settings: String...) throws -> Ended {
        try place.run(
            settings.flatMap { ["--set", $0] } + ["publish", "-"],
            input: #"{"url":"\#(url)","variants":["16x16.png"],"id":"\#(id)"}"#)
    }

    @Test(
        "What any of the keys signed is done, retries too; the rest is never fetched, and listed with its reason; what was signed is replayed"
    )
    func programs() async throws {
        let urls = place.draw(3)
        place.origin.serve("/down.png", .status(503))
        #expect(try publish(urls[0], id: "new").status == 0)
        #expect(try publish(urls[1], id: "old", "jobs.sign=old").status == 0)
        #expect(try publish(place.origin.url("/down.png"), id: "down").status == 0)
        #expect(try publish(urls[2], id: "none", "jobs.keys={}", "jobs.sign=").status == 0)
        #expect(try publish(urls[2], id: "strange", "jobs.keys={gone: {file: stolen.key}}", "jobs.sign=").status == 0)
        #expect(try publish(urls[2], id: "forged", "jobs.keys={new: {file: stolen.key}}").status == 0)
        let summary = try await place.work()
        #expect(summary["stored"] == 2 && summary["dead"] == 4 && place.origin.requests(of: "/2.png") == 0)
        let outcomes = Dictionary(
            uniqueKeysWithValues: try await place.outcomes().filter { $0.kind != .stored }.map {
                ($0.failure?.code, $0.job)
            })
        #expect(outcomes["fetch.server-error"] == "down")
        for code in ["job.unsigned", "job.unknown-key", "job.forged"] {
            #expect(outcomes[code]?.hasPrefix("jobs.fast-") == true, "\(code)")
            #expect(try place.run("dead", "list").output.contains(code))
        }
        // A dead letter keeps the signature, and only a valid one is replayed.
        place.origin.serve("/down.png", .bytes(Workplace.picture(7).png, type: "image/png"))
        let replayed = try place.run("dead", "replay", "--since", "1h")
        #expect(
            replayed.status == 1
                && replayed.lines.suffix(2) == ["down → down/outcome/1", "Replayed 1. 3 stay on the list."])
        #expect(try await place.work()["stored"] == 1)
    }

    @Test("A key that cannot be read stops those who sign or check, says so, and stops nobody else")
    func unreadable() async throws {
        try FileManager.default.removeItem(at: place.folder.url.appending(path: "old.key"))
        let refused = try publish("http://a.example/", id: "a")
        #expect(refused.status == 1 && refused.errors.contains("jobs.keys: key 'old': cannot read old.key"))
        #expect(try await place.worker().ended().errors.contains("jobs.keys: key 'old': cannot read old.key"))
        #expect(try place.run("config", "check").errors.contains("jobs.keys: key 'old': cannot read old.key"))
        let shown = try place.run("config", "show")
        #expect(
            shown.status == 0 && shown.output.contains("{old: {file: old.key}") && !shown.output.contains("secret of"))
        #expect(try publish("http://a.example/", id: "a", "jobs.keys={}", "jobs.sign=").status == 0)
        #expect(try place.run("lag").status == 0)
    }
}
