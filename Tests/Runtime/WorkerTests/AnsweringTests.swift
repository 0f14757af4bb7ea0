import Canonical
import EmbeddedLog
import ImageModel
import Ports
import Records
import Synchronization
import TestPixels
import TestSupport
import Testing
import WorkerRuntime

@Suite("Answers on their way to the log", .timeLimit(.minutes(2)))
struct AnsweringTests {
    @Test("A partition whose append does not end holds back no other")
    func apart() async throws {
        let bench = try Bench()
        let log = try bench.log
        var paths: [PartitionID: String] = [:]
        for number in 0..<64 where paths.count < 2 {
            let path = "/\(number).png"
            let partition = try bench.rules.source(of: bench.url(path)).key.partition(of: log.partitionCount)
            if paths[partition] == nil { paths[partition] = path }
        }
        for path in paths.values {
            bench.origin.serve(path, .bytes(Pixels.photograph(width: 90, height: 60, seed: 1).png, type: "image/png"))
        }
        try await bench.publish(
            paths.values.map { (url: bench.url($0), variants: ["32x32.png"], lane: .fast) }, to: log)
        let slow = try #require(paths.keys.first)
        // Opened by the other one's answer: were they appended together, neither would ever come.
        let gate = Gate()
        let moving = MovingLog(log) { records in
            let answers = records.filter { $0.topic == .outcomes }
            if answers.contains(where: { $0.partition == slow }) {
                await gate.wait()
            } else if !answers.isEmpty {
                gate.open()
            }
            return nil
        }
        try await bench.work(log: log, moving: moving)
        #expect(try await bench.outcomes().count == 2)
    }

    @Test("Of a batch that is refused in part, what is in the log is not answered again, and the rest comes in order")
    func inPart() async throws {
        let bench = try Bench()
        let log = try bench.log
        // No jobs: each is answered by a dead letter, and once that is there by an outcome.
        let bodies = ["one", "two", "three"]
        try await bench.append(
            bodies.map { NewRecord(topic: .jobsFast, partition: PartitionID(0), key: [], value: Array($0.utf8)) },
            to: log)
        let batches = Mutex<[[Topic]]>([])
        let moving = MovingLog(
            log,
            before: { records in
                let answers = records.map(\.topic).filter { $0 == .outcomes || $0 == .dead }
                if !answers.isEmpty { batches.withLock { $0.append(answers) } }
                return nil
            },
            refusing: { record in
                // The second letter the first time, and the second outcome.
                let refused = [1: "jobs.fast-0-1", 3: "jobs.fast-0-1/outcome"]
                let id = String(decoding: record.headers[EventHeader.id] ?? [], as: UTF8.self)
                return refused[batches.withLock { $0.count }] == id ? .unavailable(reason: "the test says so") : nil
            })
        let counters = try await bench.work(log: log, moving: moving)
        #expect(
            batches.withLock { $0 } == [
                [.dead, .dead, .dead], [.dead, .outcomes, .outcomes], [.outcomes], [.outcomes],
            ])
        #expect(try await bench.outcomes().map(\.job) == ["jobs.fast-0-0", "jobs.fast-0-2", "jobs.fast-0-1"])
        #expect(counters.dead == 3 && counters.jobs == 3)
    }
}
