import Foundation
import Glibc
import Ports
import Records
import TestSupport
import TestWorkplace
import Testing

/// MEZZOTINT_KAFKA_FAULTS says how often each is done, MEZZOTINT_KAFKA_JOBS how many jobs come each time.
@Suite(
    "Faults on a real Kafka: every job ends, in one way, and no variant is wrong or missing", .serialized,
    .timeLimit(.minutes(300)), .enabled(if: KafkaBroker.isHere, Comment(rawValue: KafkaBroker.absent)))
struct KafkaFaultTests {
    private static let times = Effort.count("MEZZOTINT_KAFKA_FAULTS", landing: 2, all: 4)
    private static let jobs = Effort.count("MEZZOTINT_KAFKA_JOBS", landing: 200, all: 200)

    /// Jobs come all the time, so that whatever is done meets work.
    private func trial(
        _ name: String, on broker: KafkaBroker, replication: Int = 1, seed: UInt64,
        _ disturb: (Crew) async throws -> Void
    ) async throws {
        let place = try await Workplace.onKafka(broker, replication: replication, Crew.byteLimit, Crew.budget)
        let crew = try await Crew(place, seed: seed)
        for round in 0..<Self.times {
            try await crew.publish(Self.jobs, round: round)
            try await crew.moment()
            try await disturb(crew)
        }
        try await crew.finish()
        try await crew.check(name, disturbances: Self.times)
    }

    @Test("kill -9 of a worker, again and again")
    func kills() async throws {
        try await trial("kill -9", on: try await KafkaBroker.shared.value, seed: 21) { crew in
            let index = await crew.anyWorker
            try await crew.kill(index)
            try await crew.replace(index)
        }
    }

    @Test("A worker stopped for longer than its session, that wakes as a zombie")
    func zombies() async throws {
        try await trial("SIGSTOP", on: try await KafkaBroker.shared.value, seed: 22) { crew in
            let worker = await crew.workers[crew.anyWorker]
            worker.signal(SIGSTOP)
            try await crew.moment(3...5)
            worker.signal(SIGCONT)
        }
    }

    @Test("All workers stopped for longer than their session, as on a machine that is suspended")
    func pauses() async throws {
        try await trial("suspended machine", on: try await KafkaBroker.shared.value, seed: 26) { crew in
            let workers = await crew.workers
            for worker in workers { worker.signal(SIGSTOP) }
            try await crew.moment(3...5)
            for worker in workers { worker.signal(SIGCONT) }
        }
    }

    @Test("Workers restarted one after another: no partition is without an owner for long")
    func restarts() async throws {
        try await trial("rolling restarts", on: try await KafkaBroker.shared.value, seed: 23) { crew in
            let gap = Task { try await Self.longestGap(crew.place) }
            for index in await crew.workers.indices {
                try await crew.stop(index)
                try await crew.replace(index)
            }
            gap.cancel()
            let longest = try await gap.value
            print("rolling restarts: a partition was without an owner for \(longest) at most")
            // Twice kafka.timing.revoke, and two seconds.
            #expect(longest < .seconds(8))
        }
    }

    /// How long any partition had no owner, as the coordinator tells it once a second, until the task is cancelled.
    private static func longestGap(_ place: Workplace) async throws -> Duration {
        let log = try await place.open()
        var since: [PartitionID: ContinuousClock.Instant] = [:]
        var longest = Duration.zero
        while !Task.isCancelled {
            for partition in log.partitions {
                let now = ContinuousClock.now
                let isOwned = try await log.owner(of: partition) != nil
                since[partition] = isOwned ? nil : since[partition] ?? now
                longest = max(longest, since[partition].map { now - $0 } ?? .zero)
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
        await log.close()
        return longest
    }

    @Test("A worker that comes and goes, so that partitions change hands all the time")
    func rebalances() async throws {
        try await trial("rebalances", on: try await KafkaBroker.shared.value, seed: 24) { crew in
            let guest = try crew.place.worker(untilIdle: false)
            await guest.says("The worker runs")
            try await crew.moment(1...5)
            try await crew.stop(guest)
        }
    }

    @Test("A broker of three killed and revived")
    func brokers() async throws {
        let cluster = try await KafkaBroker.start(brokers: 3) { _ in ["group.min.session.timeout.ms=500"] }
        var next = 0
        try await trial("kill -9 of a broker", on: cluster, replication: 3, seed: 25) { crew in
            next = next % 3 + 1
            try await cluster.run("kill", "\(next)")
            try await crew.moment(2...4)
            try await cluster.run("revive", "\(next)")
        }
    }
}
