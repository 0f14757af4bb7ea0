import Canonical
import Foundation
import ImageModel
import KafkaSetup
import Records
import TestSupport
import TestWorkplace
import Testing

extension ClusterTests {
    @Suite("Records of others that are larger than the worker may write")
    struct Poison {
        /// librdkafka as a producer of another team has it: a key that compresses well, within the topic's limit.
        private static let producer = """
            import ctypes, sys
            kafka = ctypes.CDLL("librdkafka.so.1")
            for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_topic_new"):
                getattr(kafka, name).restype = ctypes.c_void_p
            text = ctypes.create_string_buffer(512)
            conf = ctypes.c_void_p(kafka.rd_kafka_conf_new())
            for name, value in (
                ("bootstrap.servers", sys.argv[1]), ("compression.codec", "lz4"), ("message.max.bytes", "10000000"),
            ):
                assert kafka.rd_kafka_conf_set(conf, name.encode(), value.encode(), text, 512) == 0, text.value
            client = ctypes.c_void_p(kafka.rd_kafka_new(0, conf, text, 512))
            topic = ctypes.c_void_p(kafka.rd_kafka_topic_new(client, sys.argv[2].encode(), None))
            key = b"a" * 3000000
            for value in (b"no job", sys.argv[3].encode()):
                sent = kafka.rd_kafka_produce(
                    topic, int(sys.argv[4]), 2, value, ctypes.c_size_t(len(value)), key, ctypes.c_size_t(len(key)), None)
                assert sent == 0
            assert kafka.rd_kafka_flush(client, 30000) == 0
            """

        @Test("A key of 3 MB that compresses well: what is no job is a dead letter, a job is done, and all of it once")
        func key() async throws {
            let cluster = try await Cluster()
            let url = cluster.place.draw(1)[0]
            let rules = CanonicalRules()
            let job = try Intake(rules: rules).job(
                url: url, variants: [try rules.spec(of: "16x16.png")], id: "job", lane: .fast)
            let home = job.source.partition(of: Cluster.partitions)
            // Where it is appended anew under its own key, that is the next partition.
            let foreign = (home.number + 1) % Int32(Cluster.partitions)
            try Self.producer.write(
                to: cluster.place.folder.url.appending(path: "poison.py"), atomically: true, encoding: .utf8)
            for (place, text) in [(home.number, job.body), (foreign, job.body)] {
                let sent = try await RunningProgram(
                    "/usr/bin/python3",
                    [
                        "poison.py", cluster.broker.bootstrap, cluster.configuration.prefix + "jobs.fast",
                        String(decoding: text, as: UTF8.self), "\(place)",
                    ], in: cluster.place.folder.url
                ).ended()
                #expect(sent.status == 0, "\(sent.errors)")
            }
            let summary = try await cluster.place.work()
            #expect(summary["jobs"] == 4 && summary["dead"] == 2)
            // The job that was appended again joins the other's flight, or finds its variant.
            #expect(summary["stored"] == 1 && summary["fetches"] == 1 && summary["unchanged"] <= 1)
            let deadLetters = try cluster.array("dead", "list")
            #expect(deadLetters.count == 2 && deadLetters.allSatisfy { $0["code"] as? String == "job.not-json" })
            let id = try #require(deadLetters.first?["id"] as? String)
            let shown = try cluster.place.run("dead", "show", id)
            #expect(shown.output.contains("256 of 3000000 bytes"), "\(shown.output)")
            #expect(try await cluster.place.work()["jobs"] == 0)
        }
    }
}
