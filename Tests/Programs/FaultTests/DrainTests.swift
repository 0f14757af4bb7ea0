import Foundation
import Glibc
import ImageModel
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing

@Suite("A worker that is told to stop", .timeLimit(.minutes(2)))
struct DrainTests {
    private let place: Workplace
    private let picture = LocalOrigin.Answer.bytes(
        Pixels.photograph(width: 120, height: 90, seed: 9).png, type: "image/png")
    init() throws {
        // Half of them for one origin.
        place = try Workplace("fetch.concurrency=4", "fetch.timeouts.firstByte=60s", "fetch.timeouts.total=60s")
    }

    /// Ten jobs of which two wait at the gate, the permits' number.
    private func begin(_ gate: Gate, _ drain: String? = nil) async throws -> RunningProgram {
        let urls = (0..<10).map { number in
            place.origin.serve("/\(number).png", .gated(gate, picture))
            return place.origin.url("/\(number).png")
        }
        try place.publish(urls.map { ($0, ["32x32-q80.webp", "16x16-q80.jpg"], .fast) })
        let worker = try drain.map { try place.worker("worker.drain=\($0)", "render.deadline=60s") } ?? place.worker()
        await gate.arrivals(2)
        return worker
    }

    /// The newest word of each partition's owner: whether it left cleanly.
    private func flags() async throws -> [Bool] {
        try await place.records(.variants).compactMap { record in
            if case .epoch(let row) = try ChangelogEntry(record) { row.isClean } else { nil }
        }
    }

    @Test(
        "It finishes what runs, leaves what waits, says that it left cleanly, and exits 0",
        arguments: [SIGTERM, SIGINT])
    func drain(number: Int32) async throws {
        let gate = Gate()
        let worker = try await begin(gate)
        worker.signal(number)
        await worker.says("The worker is stopping")
        gate.open()
        let ended = try await worker.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        let summary = try Summary(ended)
        #expect(summary["jobs"] == 2 && summary["fetches"] == 2 && summary["stored"] == 4, "\(ended.output)")
        #expect(try await place.outcomes().map(\.kind) == [.stored, .stored])
        #expect(try await flags() == Array(repeating: true, count: 8))

        // The others are done at the next start, and none twice.
        let rest = try await place.work()
        #expect(rest["jobs"] == 8 && rest["fetches"] == 8)
        #expect(Set(try await place.outcomes().map(\.job)).count == 10)
        #expect(place.origin.requestCount == 10)
    }

    @Test("A second signal ends it at once; nothing is lost, and no clean flag is left")
    func twice() async throws {
        let gate = Gate()
        let worker = try await begin(gate)
        worker.signal(SIGINT)
        await worker.says("The worker is stopping")
        worker.signal(SIGINT)
        #expect(try await worker.ended().status == 128 + SIGINT)
        #expect(try await flags() == Array(repeating: false, count: 8))
        gate.open()
        #expect(try await place.work()["jobs"] == 10)
        #expect(try await place.rows().count == 20)
    }

    @Test("A second signal ends it though its own thread hangs")
    func twiceHanging() async throws {
        let worker = try place.worker(untilIdle: false)
        await worker.says("The worker runs")
        let halted = try await HaltedThreads(named: "log poll", of: worker.pid)
        // Two of a kind might be heard as one.
        for number in [SIGINT, SIGTERM] { worker.signal(number) }
        #expect([128 + SIGINT, 128 + SIGTERM].contains(try await worker.ended().status))
        halted.release()
    }

    @Test("An origin that hangs does not hold it beyond worker.drain")
    func hangingOrigin() async throws {
        let gate = Gate()
        let worker = try await begin(gate, "500ms")
        worker.signal(SIGTERM)
        await worker.says("The worker is stopping")
        let clock = ContinuousClock()
        let started = clock.now
        let ended = try await worker.ended()
        #expect(ended.status == 0 && clock.now - started < .seconds(10), "\(ended.errors)")
        #expect(ended.errors.contains("The drain deadline passed"))
        #expect(try await flags() == Array(repeating: false, count: 8))
        gate.open()
        #expect(try await place.work()["jobs"] == 10)
    }

    @Test("A disk that hangs does not hold it for long beyond worker.drain: it says what hangs, and fails")
    func hangingStore() async throws {
        let hung = try await HungStore("worker.drain=500ms")
        await hung.worker.says("that are being stored have not come on")
        hung.worker.signal(SIGTERM)
        let ended = try await hung.worker.ended()
        #expect(ended.status == 1)
        let reason = "did not end within 15.5 seconds: 1 of 1 sources that are being stored have not come on"
        #expect(ended.errors.contains(reason), "\(ended.errors)")
        hung.halted.release()
        try await hung.place.work()
        #expect(try await hung.place.outcomes().map(\.kind) == [.stored, .stored])
    }

    @Test("A renderer that hangs does not hold it beyond worker.drain")
    func hangingRenderer() async throws {
        let gate = Gate()
        let worker = try await begin(gate, "500ms")
        // The second one may still be starting.
        try await eventually { Children.renderers(of: worker.pid).count == 2 }
        // What forks them is stopped first, or a new one might render.
        let parents = Children.of(worker.pid).filter { parent in
            Children.renderers(of: worker.pid).contains { Children.of(parent).contains($0) }
        }
        parents.forEach { kill($0, SIGSTOP) }
        let renderers = Children.renderers(of: worker.pid)
        (parents + renderers).forEach { kill($0, SIGSTOP) }
        worker.signal(SIGTERM)
        await worker.says("The worker is stopping")
        gate.open()
        let clock = ContinuousClock()
        let started = clock.now
        let ended = try await worker.ended()
        // Half of render.deadline, for a machine that is busy.
        #expect(ended.status == 0 && clock.now - started < .seconds(30), "\(ended.errors)")
        // None is left behind. The kernel ends the parents with the worker, and the machine's first process reaps them.
        try await eventually { (parents + renderers).allSatisfy { kill($0, 0) != 0 } }
        let rest = try await place.work()
        #expect(rest["jobs"] == 10, "\(ended.output) \(ended.errors)")
    }
}

/// The processes that another has started.
enum Children {
    /// The processes that render: forked by children of the worker, but for those that only hold a namespace.
    static func renderers(of worker: Int32) -> [Int32] {
        of(worker).flatMap(of).filter { child in
            let status = (try? String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8)) ?? ""
            let numbers = status.split(separator: "\n").first { $0.hasPrefix("NSpid:") }?.split(separator: "\t").dropFirst() ?? []
            return numbers.count == 1 || numbers.count == 2 && numbers.last != "1"
        }
    }

    static func of(_ pid: Int32) -> [Int32] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { Int32($0) }.filter { child in
            guard let stat = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8),
                let fields = stat.split(separator: ")").last?.split(separator: " "), fields.count > 1
            else { return false }
            return Int32(fields[1]) == pid
        }
    }
}
