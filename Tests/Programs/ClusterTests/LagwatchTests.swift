import Foundation
import Glibc
import ImageModel
import KafkaLog
import KafkaSetup
import Records
import TestSupport
import TestWorkplace
import Testing

extension ClusterTests {
    @Suite("Lagwatch beside a cluster")
    struct Watching {
        @Test("It names a cluster without workers, one with them, and one of two that was stopped; no group sees it")
        func workers() async throws {
            let cluster = try await Cluster("lanes.fast.target=1s")
            let urls = cluster.place.draw(12)
            try cluster.place.publish(urls.map { ($0, ["16x16.png"], .fast) })
            let watch = try await cluster.place.lagwatch()
            defer { watch.program.signal(SIGKILL) }
            let dead = try await watch.tells("no-worker")
            #expect(dead.rows("partitions").count == Cluster.partitions)
            try await eventually {
                try await watch.state().sentence.contains("Fast is late: 12 pending, the oldest for ")
            }
            try await eventually {
                try await watch.state().rows("waits").reduce(0) { $0 + ($1["jobs"] as? Int ?? 0) } == 12
            }
            let (first, second) = (try cluster.worker(named: "first"), try cluster.worker(named: "second"))
            try await cluster.owned(by: ["first", "second"])
            try await watch.tells("fine")
            let owners = Set(try await watch.state().rows("partitions").compactMap { $0["owner"] as? String })
            #expect(Set(owners.map { $0.prefix { $0 != "@" } }) == ["first", "second"])
            first.signal(SIGKILL)
            second.signal(SIGKILL)
            // With nothing pending that were no outage.
            try cluster.place.publish([(urls[0], ["17x17.png"], .fast)])
            try await watch.tells("no-worker")
            let groups = try await cluster.broker.tool("groups", "--list")
            #expect(groups.split(separator: "\n").filter { $0.hasPrefix(cluster.configuration.prefix) }.count == 1)
        }
    }
}

@Suite(
    "Lagwatch and its brokers", .serialized, .timeLimit(.minutes(4)),
    .enabled(if: KafkaBroker.isHere, Comment(rawValue: KafkaBroker.absent)))
struct LagwatchBrokerTests {
    @Test("A broker that goes takes only its own partitions along, and all of them are called what they are")
    func brokers() async throws {
        let broker = try await KafkaBroker.start(brokers: 3)
        let place = try await Workplace.onKafka(broker, partitions: 6, replication: 1)
        try place.publish(place.draw(12).map { ($0, ["16x16.png"], .slow) })
        let watch = try await place.lagwatch()
        defer { watch.program.signal(SIGKILL) }
        try await watch.tells("no-worker")
        try await broker.run("kill", "2")
        // It led two partitions of each topic, and of each topic others.
        try await eventually {
            let state = try await watch.state()
            // Of what may wait where nobody can look, nothing is known; of the slow lane's jobs some are seen elsewhere.
            return state.rows("lanes").allSatisfy {
                $0["unknownPartitions"] as? Int == 2 && ($0["waiting"] is Int) == ($0["lane"] as? String == "slow")
            }
                && state.rows("partitions").contains { $0["state"] as? String == "unreadable" }
        }
        try await watch.tells("no-worker")
        // Until the controller has missed the broker for long enough, the cluster still names it as the leader.
        var away: [String] = []
        try await eventually {
            let lag = try place.run("lag", "--json")
            #expect(lag.status == 0, "\(lag.errors)")
            let rows = try #require(try JSONSerialization.jsonObject(with: Data(lag.output.utf8)) as? [[String: Any]])
            away = rows.filter { $0["records"] is NSNull }.map { $0["message"] as? String ?? "" }
            #expect(away.count == 2 * Topic.consumed.count && rows.count == 6 * Topic.consumed.count)
            let isNamed = { (text: String) in
                text.contains("no broker leads ") || text.contains("broker 2, which leads ")
            }
            #expect(away.allSatisfy(isNamed), "\(away)")
            return away.allSatisfy { $0.contains("no broker leads ") }
        }
        let table = try place.run("lag").output
        #expect(
            table.contains("unreadable") && table.contains("\(away.count) partitions of topics cannot be read: "),
            "\(table)")
        let check = try place.run("topics", "check")
        #expect(
            check.status == 1 && check.errors.contains("jobs.fast has no leader for partitions "), "\(check.errors)")
        try await broker.run("kill", "1")
        try await broker.run("kill", "3")
        let gone = try await watch.tells("log-unreachable")
        #expect(gone.sentence.contains("What is shown is as old as that.") && gone.rows("partitions").count == 6)
        #expect(try await watch.asked("/healthz").status == 200)
    }

    @Test("A broker gets less than five requests a second, and is asked nothing twice in one look")
    func requests() async throws {
        let broker = try await KafkaBroker.start { port in
            let own = "PLAINTEXT://127.0.0.1:\(port)"
            return [
                "listeners=\(own),COUNTED://127.0.0.1:\(port + 2),CONTROLLER://127.0.0.1:\(port + 1)",
                "advertised.listeners=\(own),COUNTED://127.0.0.1:\(port + 3)",
                "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,COUNTED:PLAINTEXT",
                "group.min.session.timeout.ms=500",
            ]
        }
        let counter = try KafkaRequestCounter(on: broker.port + 3, to: broker.port + 2)
        let place = try await Workplace.onKafka(broker, replication: 1)
        // Outcomes and rows to read, and jobs that wait.
        try place.publish(place.draw(40).map { ($0, ["16x16.png"], .fast) })
        try await place.work()
        try place.publish(place.draw(40).map { ($0, ["32x32.png"], .slow) })
        let watch = try await place.lagwatch("kafka.bootstrap=127.0.0.1:\(broker.port + 3)")
        defer { watch.program.signal(SIGKILL) }
        try await watch.tells("no-worker")
        // Each look asks once for committed offsets, first of all, and three times for bounds: high watermarks, too.
        func look(_ number: Int) async throws -> Int {
            try await eventually { counter.count(.offsetFetch) >= number }
            return counter.total
        }
        let total = try await look(3)
        #expect(try await look(6) - total < 3 * 15, "a look every three seconds")
        // Twice more at the start and twice a minute, where topics are looked at for added partitions.
        #expect(counter.count(.listOffsets) <= 3 * counter.count(.offsetFetch) + 4)
    }
}
