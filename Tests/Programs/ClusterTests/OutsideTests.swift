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
    @Suite("A cluster seen from outside")
    struct Outside {
        @Test("lag counts what waits by lane and partition, with its age, though every worker is dead")
        func lag() async throws {
            let cluster = try await Cluster()
            let urls = cluster.place.draw(8)
            let jobs = urls.map { (url: $0, variants: ["16x16.png"], lane: Lane.slow) }
            try cluster.place.publish(jobs)
            #expect(try cluster.lags().count == Topic.consumed.count * Cluster.partitions)
            func behind() throws -> [[String: Any]] { try cluster.lags().filter { $0["records"] as? Int != 0 } }
            let unowned = try behind()
            #expect(unowned.reduce(0) { $0 + ($1["records"] as? Int ?? 0) } == jobs.count)
            #expect(unowned.allSatisfy { $0["topic"] as? String == "jobs.slow" && $0["owner"] is NSNull })
            let age = try #require(unowned.first?["seconds"] as? Double)
            try await eventually { try behind().first?["seconds"] as? Double ?? 0 > age + 0.2 }

            let worker = try cluster.worker(named: "only")
            try await cluster.owned(by: ["only"])
            try await cluster.done()
            worker.signal(SIGKILL)
            _ = try await worker.ended()
            try cluster.place.publish(jobs, id: "more")
            #expect(try behind().reduce(0) { $0 + ($1["records"] as? Int ?? 0) } == jobs.count)
        }

        /// A machine whose clock is wrong by so many seconds.
        private static let wrongClock = """
            #define _GNU_SOURCE
            #include <stdlib.h>
            #include <sys/syscall.h>
            #include <time.h>
            #include <unistd.h>
            int clock_gettime(clockid_t clock, struct timespec *time) {
                long result = syscall(SYS_clock_gettime, clock, time);
                if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += atol(getenv("AHEAD"));
                return result;
            }
            """

        @Test("doctor compares this machine's clock with the brokers'")
        func clock() async throws {
            let cluster = try await Cluster()
            let folder = cluster.place.folder
            try Data(Self.wrongClock.utf8).write(to: URL(filePath: folder.file("clock.c")))
            let compiler = try Process.run(
                URL(filePath: "/usr/bin/env"),
                arguments: ["clang", "-shared", "-fPIC", "-o", folder.file("clock.so"), folder.file("clock.c")])
            compiler.waitUntilExit()
            #expect(compiler.terminationStatus == 0)
            func told(ahead seconds: Int) throws -> (ok: Bool, message: String) {
                let ended = try Built.run(
                    "mezzotint", cluster.place.programWords + ["doctor", "--json"], in: folder.url,
                    environment: ["LD_PRELOAD": folder.file("clock.so"), "AHEAD": "\(seconds)"])
                let all = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [[String: Any]]
                let clock = try #require(all?.first { $0["check"] as? String == "clock" }, "\(ended.output)")
                return (clock["ok"] as? Bool == true, clock["message"] as? String ?? "")
            }
            let right = try told(ahead: 0)
            #expect(right.ok && right.message.wholeMatch(of: /It agrees with the brokers' to \d+ ms\./) != nil)
            let wrong = try told(ahead: 3_600)
            // Less the time that the record took.
            let early = /It is (3600|359\d) s ahead of the brokers': jobs and sources expire that much too early\. Set the clock of this machine \(NTP\), or the brokers'\./
            #expect(!wrong.ok && wrong.message.wholeMatch(of: early) != nil, "\(wrong.message)")
            let behind = try told(ahead: -3_600)
            let late = /It is (3600|359\d) s behind the brokers': jobs and sources expire that much too late\. .*/
            #expect(!behind.ok && behind.message.wholeMatch(of: late) != nil, "\(behind.message)")
        }

        @Test("variants shows what is stored; dead lists, shows and discards what a person must look at")
        func rows() async throws {
            let cluster = try await Cluster()
            let url = cluster.place.draw(1)[0]
            cluster.place.origin.serve("/broken.png", .status(503))
            let broken = cluster.place.origin.url("/broken.png")
            try cluster.place.publish([(url, ["16x16.png", "8x8.png"], .fast), (broken, ["8x8.png"], .fast)])
            let summary = try await cluster.place.work("retry.attempts=2")
            #expect(summary["stored"] == 2 && summary["dead"] == 1)
            #expect(
                try cluster.array("variants", url).compactMap { $0["spec"] as? String } == ["16x16.png", "8x8.png"])
            for words in [["--job", "job-1"], ["--url", broken]] {
                let ended = try cluster.place.run(["outcomes"] + words)
                #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended.errors)")
                #expect(
                    ended.output.contains("outcome      dead\n") && ended.output.contains("fetch.server-error"),
                    "\(ended.output)")
            }
            #expect(try cluster.place.run("outcomes", "--job", "job-0").output.contains("16x16.png  stored"))
            #expect(
                try cluster.place.run("outcomes", "--job", "job-9").errors.hasPrefix(
                    "There is no job 'job-9' in this log"))
            #expect(
                try cluster.place.run("variants", broken).errors.hasPrefix(
                    "Job job-1 ended as dead (fetch.server-error)."))
            let deadLetters = try cluster.array("dead", "list")
            let id = try #require(deadLetters.first?["id"] as? String)
            #expect(deadLetters.count == 1 && deadLetters[0]["code"] as? String == "fetch.server-error")
            #expect(try cluster.place.run("dead", "show", id).output.contains(broken))
            #expect(try cluster.place.run("dead", "discard", id).status == 0)
            #expect(try cluster.array("dead", "list").isEmpty)
        }

        @Test("topics check names each problem and fails; create makes what is missing; nothing runs without topics")
        func topics() async throws {
            let cluster = try await Cluster(creating: false)
            let missing = try cluster.place.run("topics", "check")
            #expect(missing.status == 1)
            let begin = "\(Topic.allCases.count) topics are missing. Run mezzotint topics create, "
            #expect(missing.errors.contains(begin + "or ask your Kafka administrator to create them: "), "\(missing.errors)")
            let refused = try cluster.place.run("lag")
            #expect(refused.status == 1 && refused.errors.contains(begin) && !refused.errors.contains("Check that it runs"), "\(refused.errors)")
            let watch = try await cluster.place.lagwatch()
            defer { watch.program.signal(SIGKILL) }
            let unusable = try await watch.tells("topics-unusable")
            #expect(unusable.sentence.hasPrefix(begin) && unusable.fields["action"] as? String == "Run mezzotint topics check: it names each topic. mezzotint topics create makes the missing ones.")
            let made = try cluster.place.run("topics", "create", "--partitions", "2", "--replication", "1")
            // Nothing was published.
            try await watch.tells("idle")
            #expect(made.status == 0 && made.output.hasPrefix("Created \(Topic.allCases.count) topics: 2 partitions each, replication factor 1.\n"), "\(made.output)")
            #expect(try cluster.place.run("topics", "check").status == 0)
            #expect(try cluster.lags().count == 2 * Topic.consumed.count)
            _ = try await cluster.broker.tool(
                "configs", "--alter", "--entity-type", "topics", "--entity-name",
                cluster.configuration.prefix + "variants", "--add-config", "cleanup.policy=delete")
            try await eventually { try cluster.place.run("topics", "check").status == 1 }
            let wrong = try cluster.place.run("topics", "check")
            #expect(wrong.errors.contains("variants has cleanup.policy=delete, and needs compact. Set it with kafka-configs.sh --bootstrap-server \(cluster.configuration.bootstrap) "), "\(wrong.errors)")
            // Seen to fail: the job was published.
            _ = try await cluster.broker.tool(
                "configs", "--alter", "--entity-type", "topics", "--entity-name",
                cluster.configuration.prefix + "jobs.slow", "--add-config", "cleanup.policy=compact")
            try await eventually { try cluster.place.run("topics", "check").errors.contains("jobs.slow has") }
            let published = try cluster.place.run("publish", "--variants", "8x8.png", "http://a.example/b.png")
            #expect(published.status == 1 && published.errors.contains("jobs.slow has cleanup.policy=compact, and needs delete: compaction removes jobs that nobody has done. "), "\(published.errors)")
            #expect(!published.errors.contains("variants has"))
        }

        @Test("Kafka's own tools read the group's offsets and lag")
        func tools() async throws {
            let cluster = try await Cluster()
            let urls = cluster.place.draw(3)
            try cluster.place.publish(urls.map { ($0, ["8x8.png"], .fast) })
            try await cluster.place.work()
            let text = try await cluster.broker.tool("groups", "--describe", "--group", cluster.configuration.group)
            let rows = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
                .filter { $0.count > 5 && $0[0] == cluster.configuration.group }
            let fast = rows.filter { $0[1].hasSuffix("jobs.fast") }
            #expect(fast.compactMap { Int($0[3]) }.reduce(0, +) == 3 && fast.allSatisfy { $0[5] == "0" }, "\(text)")
        }
    }
}
