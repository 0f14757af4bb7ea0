import Foundation
import ImageModel
import Records
import TestSupport
import TestWorkplace
import Testing

@Suite("What became of a job, for the publisher", .timeLimit(.minutes(2)))
struct OutcomesTests {
    @Test("publish prints an id, and outcomes shows by it why the job failed; the run's status is 0, as documented")
    func failed() async throws {
        let place = try Workplace("retry.attempts=2")
        let good = place.draw(1)[0]
        place.origin.serve("/gone.png", .status(404))
        place.origin.serve("/down.png", .status(503))
        let gone = place.origin.url("/gone.png")
        let published = try place.run("publish", "--variants", "16x16.png", good, gone, place.origin.url("/down.png"))
        #expect(published.lines.last == "Accepted 3, rejected 0.")
        let ids = published.lines.dropLast().map(String.init)
        #expect(ids.count == 3)

        let waiting = try place.run("outcomes", "--job", ids[1])
        #expect(
            waiting.status == 1 && waiting.errors.contains("The job '\(ids[1])' is pending in jobs.fast"),
            "\(waiting.errors)")
        #expect(try place.run("variants", gone).errors.hasPrefix("Job \(ids[1]) is pending. See 'mezzotint outcomes"))

        // Failed jobs leave the status 0: the worker has done what there was to do.
        let summary = try await place.work()
        #expect(summary["failed"] == 1 && summary["dead"] == 1 && summary["stored"] == 1 && summary["waiting"] == 0)

        for (id, kind, code) in [(ids[1], "failed", "fetch.not-found"), (ids[2], "dead", "fetch.server-error")] {
            let ended = try place.run("outcomes", "--json", "--job", id)
            #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended.errors)")
            let found = try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? NSDictionary)
            let outcomes = try #require(found["outcomes"] as? [NSDictionary])
            #expect(
                outcomes.count == 1 && outcomes[0]["kind"] as? String == kind && outcomes[0]["code"] as? String == code)
            #expect(outcomes[0]["deadLetter"] as? Bool == (kind == "dead") && found["state"] as? String == "ended")
        }
        let stored = try place.run("outcomes", "--url", good)
        #expect(
            stored.output.contains("outcome   stored\n") && stored.output.contains("16x16.png  stored"),
            "\(stored.output)")
        #expect(
            try place.run("variants", gone).errors
                == "Job \(ids[1]) ended as failed (fetch.not-found). See 'mezzotint outcomes --url' with this URL.\n")
        #expect(try place.run("variants", good).errors.isEmpty)
    }

    @Test(
        "publish --wait prints each outcome as on the topic, then the counts, and its status tells whether all succeeded"
    )
    func wait() async throws {
        let place = try Workplace("retry.attempts=1")
        let good = place.draw(2)
        place.origin.serve("/gone.png", .status(404))
        let worker = try place.worker(untilIdle: false)
        let all = try place.run("publish", "--wait", "--json", "--variants", "16x16.png", good[0], good[1])
        #expect(all.status == 0 && all.lines.last == #"{"accepted":2,"rejected":0}"#, "\(all.errors)")
        let written = try await place.records(.outcomes).map { String(decoding: $0.value ?? [], as: UTF8.self) }
        #expect(all.lines.count == 3 && Set(all.lines.dropLast().map(String.init)) == Set(written))

        let some = try place.run(
            "publish", "--wait", "--variants", "16x16.png", good[0], place.origin.url("/gone.png"), "ftp://a.example/")
        #expect(some.status == 1 && some.lines.last == "Accepted 2, rejected 1." && some.lines.count == 3)
        #expect(
            some.output.contains("  unchanged  ") && some.output.contains("  fetch.not-found: The origin answered 404"))
        let failed = try place.run(
            "publish", "--wait", "--json", "--variants", "16x16.png", place.origin.url("/gone.png"))
        #expect(failed.status == 1 && failed.errors.isEmpty)

        let lines = try place.run("outcomes", "--json").lines.map(String.init)
        #expect(lines.count == 5 && Set(lines.prefix(2)) == Set(written))
        #expect(try place.run("outcomes", "--failed", "--json").lines.count == 2)
        #expect(try place.run("outcomes", "--failed", "--url", good[0]).output == "There are no such outcomes.\n")
        worker.signal(15)
        _ = try await worker.ended()

        let late = try place.run("publish", "--wait", "--timeout", "300ms", "--variants", "16x16.png", good[1])
        #expect(late.status == 1 && late.lines == ["Accepted 1, rejected 0."])
        #expect(
            late.errors.hasPrefix("1 of 1 jobs have no outcome after 300 ms: ")
                && late.errors.contains("They stay published"))
    }

    @Test("outcomes --follow prints the outcomes that the log has, and those that come")
    func follow() async throws {
        let place = try Workplace()
        let urls = place.draw(2)
        #expect(try place.run("publish", "--variants", "16x16.png", urls[0]).status == 0)
        try await place.work()
        let follower = try RunningProgram(
            "mezzotint", place.programWords + ["outcomes", "--follow", "--json"], in: place.folder.url)
        #expect(try place.run("publish", "--variants", "16x16.png", urls[1]).status == 0)
        try await place.work()
        try await eventually { try follower.written.contains(urls[1]) }
        follower.signal(2)
        let ended = try await follower.ended()
        #expect(ended.lines.count == 2 && ended.lines[0].contains(urls[0]), "\(ended.output)")
    }

    @Test("why plans as the worker does, before and after: fetch, stored, rendered from a donor")
    func why() async throws {
        let place = try Workplace("store.maxAge=1d")
        let url = place.draw(1, side: 400)[0]
        func why(_ spec: String) throws -> NSDictionary {
            let ended = try place.run("why", "--json", url, spec)
            #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended.errors)")
            return try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? NSDictionary)
        }
        func action(_ spec: String) throws -> String? { (try why(spec)["plan"] as? NSDictionary)?["action"] as? String }
        #expect(try place.run("publish", "--variants", "200x200.png", url).status == 0)
        let before = try why("200x200.png")
        #expect((before["plan"] as? NSDictionary)?["action"] as? String == "fetch" && before["lastFetch"] is NSNull)
        #expect((before["waiting"] as? [NSDictionary])?.map { $0["place"] as? String } == ["lane"])
        try await place.work("store.originals.limit=0B")
        #expect(try action("200x200.png") == "stored")
        for spec in ["100x100.png", "300x300.png", "100x100-q80.webp"] {
            let planned = try action(spec)
            #expect(try place.run("publish", "--variants", spec, url).status == 0)
            try await place.work("store.originals.limit=0B")
            let last = try #require(try await place.outcomes().last)
            #expect(last.kind == (planned == "render" ? .reused : .stored), "\(spec): \(planned ?? "none")")
        }
        let after = try why("300x300.png")
        #expect(after["lastFetch"] is NSDictionary && (after["stored"] as? [Any])?.count == 4)
        #expect((after["lastOutcome"] as? NSDictionary)?["kind"] as? String != nil)
        #expect((after["waiting"] as? [Any])?.isEmpty == true)
        #expect(try place.run("why", url).output.contains("Last fetch: "))
    }
}
