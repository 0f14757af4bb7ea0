import Foundation
import ImageModel
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
}
