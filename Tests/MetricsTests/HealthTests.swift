import Dispatch
import Foundation
import Glibc
import ImageModel
import Posix
import Records
import TestSupport
import TestWorkplace
import Testing

@Suite("A worker's health", .timeLimit(.minutes(2)))
struct HealthTests {
    private static let listen = "metrics.listen=127.0.0.1:0"

    @Test("A thousand connections that drip, and come back at once, keep nobody waiting for 100 ms")
    func dripping() async throws {
        OpenFileLimit.raise()
        let place = try Workplace()
        let worker = try place.worker([Self.listen], untilIdle: false)
        defer { worker.signal(SIGKILL) }
        let address = try await worker.metricsAddress()
        let drip = DrippingClients(1_000, port: try #require(URL(string: address)?.port))
        while drip.connects < 1_500 { await Task.yield() }
        var waits: [Duration] = []
        for _ in 0..<50 {
            let begun = ContinuousClock.now
            #expect(try await Asked(address + "/healthz").status == 200)
            waits.append(ContinuousClock.now - begun)
        }
        waits.sort()
        print("/healthz of a worker among 1,000 that drip: \(waits[25]) in the middle, \(waits[49]) at most")
        // Other tests have the processor, too: one answer in many may come later.
        #expect(waits[44] < .milliseconds(100) && waits[49] < .seconds(1))
    }

    /// The store's threads stand still, as they would on a disk that does not answer.
    @Test("A worker whose work hangs says which, and lives again when it comes on")
    func hanging() async throws {
        let place = try Workplace(
            "worker.standstill=1s", "fetch.deadlines.dns=1s", "fetch.deadlines.connect=1s",
            "fetch.deadlines.firstByte=1s", "fetch.deadlines.whole=1s")
        let worker = try place.worker([Self.listen, "render.deadline=1s"], untilIdle: false)
        let address = try await worker.metricsAddress()
        await worker.says("The worker runs")
        let halted = try await HaltedThreads(named: "store", of: worker.pid)
        defer { halted.release() }
        try place.publish([(place.draw(1)[0], ["48x48.png"], .fast)])
        try await eventually { try await Asked(address + "/healthz").status == 503 }
        let text = try await Asked(address + "/healthz").text
        #expect(text.hasPrefix("1 of 1 sources that are being stored have not come on, one for "), "\(text)")
        halted.release()
        try await eventually { try await Asked(address + "/healthz").status == 200 }
        try await eventually { try await place.outcomes().map(\.kind) == [.stored] }
    }
}

/// Threads of another process that stand still until they are let go: a tracer's stop needs nothing of theirs.
private final class HaltedThreads: Sendable {
    private let end = DispatchSemaphore(value: 0)

    struct Unstoppable: Error {}

    init(named name: String, of process: Int32) async throws {
        let isHalted = await withCheckedContinuation { continuation in
            // What a thread traces goes on when that ends.
            OwnThread.start("halting") { [end] in
                continuation.resume(returning: Self.halt(Self.threads(named: name, of: process)))
                end.wait()
            }
        }
        guard isHalted else { throw Unstoppable() }
    }

    func release() { end.signal() }

    private static func threads(named name: String, of process: Int32) -> [Int32] {
        let tasks = "/proc/\(process)/task"
        let names = (try? FileSystem.names(in: tasks)) ?? []
        return names.compactMap { Int32($0) }.filter {
            (try? String(contentsOfFile: "\(tasks)/\($0)/comm", encoding: .utf8)) == name + "\n"
        }
    }

    private static func halt(_ threads: [Int32]) -> Bool {
        typealias Call = @convention(c) (Int, Int, Int, Int) -> Int
        let (seize, interrupt, anyThread) = (0x4206, 0x4207, Int32(0x4000_0000))
        // Swift has no variadic C functions.
        guard !threads.isEmpty, let symbol = dlsym(nil, "ptrace") else { return false }
        let ptrace = unsafeBitCast(symbol, to: Call.self)
        return threads.allSatisfy { thread in
            var status: Int32 = 0
            return ptrace(seize, Int(thread), 0, 0) == 0 && ptrace(interrupt, Int(thread), 0, 0) == 0
                && waitpid(thread, &status, anyThread) == thread
        }
    }
}
