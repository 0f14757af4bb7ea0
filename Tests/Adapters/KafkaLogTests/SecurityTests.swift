import Failures
import Foundation
import KafkaLog
import KafkaSetup
import Ports
import Records
import TestSupport
import Testing

extension KafkaTests {
    @Suite("Connections that are protected")
    struct Security {
        typealias Kind = KafkaConfiguration.Security.Kind
        typealias Mechanism = KafkaConfiguration.Security.Mechanism

        @Test("TLS, SASL PLAIN and SCRAM let us in, where librdkafka can, and so does our certificate where one is asked for; a wrong password or authority, or none, does not, by name")
        func security() async throws {
            let folder = try TemporaryFolder()
            try Self.makeCertificate(in: folder)
            let (keystore, certificate) = (folder.file("broker.pem"), folder.file("certificate.pem"))
            let broker = try await KafkaBroker.start {
                Self.settings(port: $0, keystore: keystore, certificate: certificate)
            }
            for mechanism in ["SCRAM-SHA-256", "SCRAM-SHA-512"] {
                _ = try await broker.tool(
                    "configs", "--alter", "--entity-type", "users", "--entity-name", "alice", "--add-config",
                    "\(mechanism)=[password=secret]")
            }
            let bench = try await KafkaBench(on: broker, partitions: 1)
            let rows: [(Kind, Mechanism, port: Int)] = [
                (.tls, .plain, 2), (.sasl, .plain, 3), (.sasl, .scramSHA256, 3), (.sasl, .scramSHA512, 3),
                (.saslTLS, .plain, 4), (.saslTLS, .scramSHA512, 4),
            ]
            var appended = 0
            for row in rows {
                var configuration = bench.configuration
                configuration.bootstrap = "127.0.0.1:\(broker.port + row.port)"
                configuration.security.kind = row.0
                configuration.security.mechanism = row.1
                (configuration.security.user, configuration.security.password) = ("alice", "secret")
                configuration.security.authorities = folder.file("certificate.pem")
                if row.0 == .tls || row.1 == .plain || KafkaConfiguration.hasSoundSCRAM {
                    let log = try await KafkaLog.open(configuration)
                    #expect(await log.append([.text(.dead, 0, "\(row)")])[0].offset == Int64(appended))
                    appended += 1
                    #expect(try await log.read(.dead, PartitionID(0), from: 0, limit: 10).count == appended)
                    await log.close()
                } else {
                    await Self.expectRefusal(configuration, saying: "SCRAM with Kafka 4.0")
                }
                if row.0 == .tls { configuration.security.authorities = "" } else { configuration.security.password = "guess" }
                await Self.expectRefusal(configuration, saying: "kafka.security")
            }
            // The broker wants to know us by a certificate.
            var known = bench.configuration
            known.bootstrap = "127.0.0.1:\(broker.port + 5)"
            known.security.kind = .tls
            known.security.authorities = folder.file("certificate.pem")
            await Self.expectRefusal(known, saying: "kafka.security")
            (known.security.certificate, known.security.key) = (folder.file("certificate.pem"), folder.file("key.pem"))
            let log = try await KafkaLog.open(known)
            #expect(await log.append([.text(.dead, 0, "known")])[0].offset == Int64(appended))
            await log.close()
            try await broker.run("wipe")
        }

        static func expectRefusal(_ configuration: KafkaConfiguration, saying text: String) async {
            do throws(LogFailure) {
                let log = try await KafkaLog.open(configuration)
                await log.close()
                Issue.record("\(configuration.security): let in without the right to")
            } catch {
                #expect(error.code == "log.denied", "\(configuration.security): \(error)")
                #expect(error.description.contains(text), "\(error)")
            }
        }

        static func settings(port: Int, keystore: String, certificate: String) -> [String] {
            let named = [("PLAINTEXT", 0), ("SSL", 2), ("SASL_PLAINTEXT", 3), ("SASL_SSL", 4), ("MUTUAL", 5)]
            let listeners = named.map { "\($0.0)://127.0.0.1:\(port + $0.1)" }.joined(separator: ",")
            let security = "org.apache.kafka.common.security."
            return [
                "listeners=\(listeners),CONTROLLER://127.0.0.1:\(port + 1)", "advertised.listeners=\(listeners)",
                "listener.security.protocol.map=CONTROLLER:PLAINTEXT," + named.map { "\($0.0):\($0.0 == "MUTUAL" ? "SSL" : $0.0)" }
                    .joined(separator: ","),
                "listener.name.mutual.ssl.client.auth=required", "listener.name.mutual.ssl.truststore.type=PEM",
                "listener.name.mutual.ssl.truststore.location=\(certificate)",
                "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512", "ssl.keystore.type=PEM",
                "ssl.keystore.location=\(keystore)",
            ] + ["sasl_plaintext", "sasl_ssl"].flatMap { listener in
                [
                    "listener.name.\(listener).plain.sasl.jaas.config=\(security)plain.PlainLoginModule required user_alice=\"secret\";",
                    "listener.name.\(listener).scram-sha-256.sasl.jaas.config=\(security)scram.ScramLoginModule required;",
                    "listener.name.\(listener).scram-sha-512.sasl.jaas.config=\(security)scram.ScramLoginModule required;",
                ]
            }
        }

        static func makeCertificate(in folder: TemporaryFolder) throws {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/openssl")
            process.arguments = [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                "subjectAltName=IP:127.0.0.1", "-keyout", folder.file("key.pem"), "-out", folder.file("certificate.pem"),
            ]
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            let parts = try ["key.pem", "certificate.pem"].map { try Data(contentsOf: folder.url.appending(path: $0)) }
            try parts.reduce(Data(), +).write(to: folder.url.appending(path: "broker.pem"))
        }
    }
}
