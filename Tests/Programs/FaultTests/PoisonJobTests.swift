import Failures
import Foundation
import Glibc
import ImageModel
import Ports
import Records
import TestSupport
import TestWorkplace
import Testing

@Suite("A job that kills the worker that runs it", .timeLimit(.minutes(5)))
struct PoisonJobTests {
    /// Three ends of a worker while it fetches the same job, as `kill -9` and the out-of-memory killer make them.
    private static let crashes = 3

    @Test("Three workers die of it; then it is a dead letter, unexecuted, and all other jobs are stored")
    func poisonJob() async throws {
        let place = try Workplace("fetch.concurrency=8")
        let gate = Gate()
        place.origin.serve("/killer.png", .gated(gate, .status(404)))
        let url = place.origin.url("/killer.png")
        var urls = place.draw(24)
        urls.insert(url, at: 5)
        try place.publish(urls.map { ($0, ["32x32.png"], .fast) })
        for death in 1...Self.crashes {
            let worker = try place.worker()
            await gate.arrivals(death)
            #expect(worker.isRunning, "\(worker.errors)")
            worker.signal(SIGKILL)
            _ = try await worker.ended()
        }
        let worker = try place.worker()
        let ended = try await worker.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try Summary(ended)["dead"] == 1)
        #expect(place.origin.requests(of: "/killer.png") == Self.crashes)
        let line = ended.errors.split(separator: "\n").first { $0.contains("job.poison") } ?? ""
        #expect(line.contains(url) && line.contains("mezzotint dead show job-5"), "\(ended.errors)")

        let deadLetters = try await place.records(.dead).map { try DeadLetter($0) }
        #expect(deadLetters.map(\.cause.code) == ["job.poison"] && deadLetters.map { $0.url.map { "\($0)" } } == [url])
        let outcomes = try await place.outcomes()
        for (job, told) in Dictionary(grouping: outcomes, by: \.job) where job != "job-5" {
            #expect(told.allSatisfy { [.stored, .unchanged].contains($0.kind) }, "\(job): \(told.map(\.kind))")
        }
        #expect(Set(outcomes.map(\.job)).count == urls.count)
        #expect(try place.run("dead", "show", "job-5").status == 0)
        gate.open()
    }
}
