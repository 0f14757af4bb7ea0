import Foundation
import Glibc
import ImageModel
import Records
import TestSupport
import TestWorkplace
import Testing

extension ClusterTests {
    @Suite("A worker whose brokers come after it, or refuse it")
    struct LateBrokers {
        @Test("A first start on new topics of a new broker logs no notice")
        func quiet() async throws {
            let broker = try await KafkaBroker.start()
            let place = try await Workplace.onKafka(broker, "kafka.timing.session=30s")
            let worker = try place.worker(untilIdle: false)
            await worker.says("The worker runs")
            try place.publish(place.draw(4).map { ($0, ["32x32.png"], .fast) })
            try await eventually { try await place.outcomes().count == 4 }
            worker.signal(SIGTERM)
            let ended = try await worker.ended()
            #expect(ended.status == 0)
            #expect(ended.errors.split(separator: "\n").filter { !$0.contains("\"level\":\"info\"") } == [])
            try await broker.run("wipe")
        }

        @Test("It works once they answer; a wrong password ends it at once, with a sentence that names the settings")
        func late() async throws {
            // The script reads a broker's port from the one line that begins with "advertised.listeners=".
            let broker = try await KafkaBroker.start { port in
                [
                    "listeners=PLAINTEXT://127.0.0.1:\(port),SASL_PLAINTEXT://127.0.0.1:\(port + 2),CONTROLLER://127.0.0.1:\(port + 1)",
                    "advertised.listeners =PLAINTEXT://127.0.0.1:\(port),SASL_PLAINTEXT://127.0.0.1:\(port + 2)",
                    "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
                    "group.min.session.timeout.ms=500", "sasl.enabled.mechanisms=PLAIN",
                    "listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_alice=\"secret\";",
                ]
            }
            let place = try await Workplace.onKafka(broker, partitions: 2)
            let refused = try await place.worker(
                "kafka.bootstrap=127.0.0.1:\(broker.port + 2)", "kafka.security.protocol=SASL_PLAINTEXT",
                "kafka.security.user=alice", "kafka.security.password=guess", untilIdle: false
            ).ended()
            #expect(refused.status == 1)
            #expect(refused.errors.contains("mezzotint-worker: The log refuses this client: "), "\(refused.errors)")
            #expect(refused.errors.contains("(kafka.security)."), "\(refused.errors)")

            try await broker.run("kill", "1")
            let worker = try place.worker("kafka.timing.response=1s", untilIdle: false)
            await worker.says("The worker waits for the log.")
            try await broker.run("revive", "1")
            await worker.says("The worker runs")
            #expect(worker.errors.components(separatedBy: "The worker waits for the log.").count == 2)
            try place.publish([(url: place.draw(1)[0], variants: ["32x32.png"], lane: .fast)])
            try await eventually { try await place.outcomes().map(\.kind) == [.stored] }
            worker.signal(SIGTERM)
            #expect(try await worker.ended().status == 0)
            try await broker.run("wipe")
        }
    }
}
