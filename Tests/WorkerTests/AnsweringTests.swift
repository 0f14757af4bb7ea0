import EmbeddedLog
import ImageModel
import Ports
import TestPixels
import TestSupport
import Testing

@Suite("Answers on their way to the log", .timeLimit(.minutes(2)))
struct AnsweringTests {
    @Test("A partition whose append does not end holds back no other")
    func apart() async throws {
        let bench = try Bench()
        let log = try await bench.log
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
            if answers.contains(where: { $0.partition == slow }) { await gate.wait() } else if !answers.isEmpty { gate.open() }
            return nil
        }
        try await bench.work(log: log, moving: moving)
        #expect(try await bench.outcomes().count == 2)
    }
}
