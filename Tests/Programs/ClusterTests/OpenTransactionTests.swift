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
    @Suite("An open transaction beside a cluster")
    struct OpenTransactions {
        @Test(
            "Lag, page and a run until idle count what it hides, name it, and all is done once it is aborted as the page says"
        )
        func hanging() async throws {
            let cluster = try await Cluster()
            let topic = cluster.configuration.prefix + "jobs.fast"
            let urls = cluster.place.draw(1)
            let jobs = cluster.place.folder.url.appending(path: "jobs.txt")
            try Data("{\"url\":\"\(urls[0])\",\"variants\":[\"16x16.png\"]}\n".utf8).write(to: jobs)
            // A record each ten seconds: no more than its first ones are sent before the test is over.
            async let producer = cluster.broker.tool(
                "perf-producer", "--topic", topic, "--num-records", "12", "--payload-file", jobs.path, "--throughput",
                "0.1", "--transactional-id", cluster.configuration.prefix + "t", "--transaction-duration-ms",
                "3600000", "--command-property", "transaction.timeout.ms=600000")
            try await eventually { try cluster.lags().contains { $0["hidden"] as? Int ?? 0 > 0 } }
            let unknown = try cluster.place.run("outcomes", "--job", "nobody")
            let begin = "There is no job 'nobody' among the records that can be read. An open transaction hides "
            #expect(
                unknown.status == 1 && unknown.errors.hasPrefix(begin)
                    && unknown.errors.contains(" of jobs.fast. The job may be one of them: see 'mezzotint lag'."),
                "\(unknown.errors)")
            let watch = try await cluster.place.lagwatch()
            defer { watch.program.signal(SIGKILL) }
            let worker = try cluster.worker(named: "first", untilIdle: true)
            let named = try await watch.tells("open-transaction")
            #expect(named.sentence.hasPrefix("An open transaction hides \(topic), partition "))
            let ended = try await worker.ended()
            #expect(ended.status == 1 && ended.errors.contains("An open transaction hides "), "\(ended.errors)")
            let summary = try Summary(ended)
            #expect(summary["hidden"] > 0 && summary["waiting"] == summary["hidden"])

            let hidden = try #require(try cluster.lags().first { $0["hidden"] as? Int ?? 0 > 0 })
            let partition = try #require(hidden["partition"] as? Int)
            let action = try #require(named.fields["action"] as? String)
            let command = "--topic \(topic) --partition \(partition) --start-offset 0"
            #expect(
                action.hasSuffix(
                    "kafka-transactions.sh --bootstrap-server \(cluster.configuration.bootstrap) abort \(command)"))
            let aborts =
                "kafka-transactions.sh --bootstrap-server \(cluster.configuration.bootstrap) abort --topic \(topic)"
            #expect(ended.errors.contains(aborts), "\(ended.errors)")
            _ = try? await producer
            try await eventually { try cluster.lags().allSatisfy { $0["hidden"] as? Int == 0 } }
            let second = try await cluster.place.work()
            #expect(second["waiting"] == 0 && second["hidden"] == 0 && second["unchanged"] + second["stored"] > 0)
            // The marker at the end is committed, too: no tool of Kafka's shows a lag.
            let text = try await cluster.broker.tool("groups", "--describe", "--group", cluster.configuration.group)
            let rows = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
            let fast = rows.filter { $0.count > 5 && $0[1] == topic && $0[3] != "-" }
            #expect(!fast.isEmpty && fast.allSatisfy { $0[5] == "0" }, "\(text)")
        }
    }

    @Suite("Others beside a cluster")
    struct Others {
        /// A cluster with one worker, which owns all partitions, and a page that reports no fault.
        private func watched() async throws -> (cluster: Cluster, worker: RunningProgram, watch: Lagwatch) {
            let cluster = try await Cluster()
            let worker = try cluster.worker(named: "first")
            try await cluster.owned(by: ["first"])
            let watch = try await cluster.place.lagwatch()
            try await watch.tells("fine")
            return (cluster, worker, watch)
        }

        @Test("A member of the group that is no worker is named with client id and host; a stopped worker is not")
        func foreignMember() async throws {
            let (cluster, worker, watch) = try await watched()
            defer { for program in [worker, watch.program] { program.signal(SIGKILL) } }
            // It polls until so many records came, which never do.
            async let other = cluster.broker.tool(
                "perf-consumer", "--topic", cluster.configuration.prefix + "jobs.fast", "--group",
                cluster.configuration.group, "--num-records", "1000", "--timeout", "60000")
            let named = try await watch.tells("foreign-member")
            #expect(
                named.sentence.contains(
                    "client id perf-consumer-client, host 127.0.0.1) has been a member of \(cluster.configuration.group)"
                ),
                "\(named.sentence)")
            _ = try? await other
            try await watch.tells("fine")
            worker.signal(SIGSTOP)
            // Nothing is pending, so no worker is needed.
            let stopped = try await watch.tells("idle")
            #expect(!stopped.sentence.contains("no worker, client"))
            worker.signal(SIGCONT)
        }

        @Test(
            "A job topic that grew stops nothing: workers, one that starts anew, lag and page go on with the old number and name it"
        )
        func grown() async throws {
            let (cluster, worker, watch) = try await watched()
            defer { for program in [worker, watch.program] { program.signal(SIGKILL) } }
            let topic = cluster.configuration.prefix + "jobs.slow"
            _ = try await cluster.broker.tool("topics", "--alter", "--topic", topic, "--partitions", "9")
            let named = try await watch.tells("partitions-added")
            #expect(
                named.sentence.hasPrefix(
                    "The workers use 6 partitions of each topic, and \(topic) has 9, 0 records unread."),
                "\(named.sentence)")
            await worker.says("Topics have more than the 6 partitions that workers and publishers use: ")
            let second = try cluster.worker(named: "second")
            defer { second.signal(SIGKILL) }
            try await cluster.owned(by: ["first", "second"])
            try cluster.place.publish(cluster.place.draw(12).map { ($0, ["16x16.png"], .slow) })
            try await cluster.done()
            #expect(try cluster.unparkedLags() == Topic.consumed.count * 6)
            #expect(
                try cluster.place.run("lag").output.contains(
                    "jobs.slow has 9 partitions; workers use 6, and the others hold 0 unread records."))
            let check = try cluster.place.run("topics", "check")
            #expect(
                check.status == 1 && check.errors.contains("Topics have more than the 6 partitions"), "\(check.errors)")
        }

        /// Seen to fail: status 0, `waiting` 0, and no row of `lag --json` with these records.
        @Test("Records in partitions that were added are not all done: lag counts them, a run until idle names them")
        func unread() async throws {
            let cluster = try await Cluster()
            let topic = cluster.configuration.prefix + "jobs.slow"
            #expect(try await cluster.place.work()["unread"] == 0)
            _ = try await cluster.broker.tool("topics", "--alter", "--topic", topic, "--partitions", "9")
            let jobs = cluster.place.folder.url.appending(path: "jobs.txt")
            try Data("{\"url\":\"\(cluster.place.draw(1)[0])\",\"variants\":[\"16x16.png\"]}\n".utf8).write(to: jobs)
            // Spread over all nine, as by a publisher without keys.
            _ = try await cluster.broker.tool(
                "perf-producer", "--topic", topic, "--num-records", "90", "--payload-file", jobs.path, "--throughput",
                "-1",
                "--command-property", "partitioner.class=org.apache.kafka.clients.producer.RoundRobinPartitioner")
            var unread = 0
            try await eventually {
                let added = try cluster.lags().filter { $0["partition"] is NSNull }
                unread = added.first?["unread"] as? Int ?? 0
                return added.count == 1 && added[0]["topic"] as? String == "jobs.slow" && unread > 0
                    && added[0]["records"] as? Int == unread
            }
            #expect(try cluster.lags().allSatisfy { $0["partition"] is NSNull || $0["unread"] as? Int == 0 })
            let ended = try await cluster.worker(named: "first", untilIdle: true).ended()
            let summary = try Summary(ended)
            #expect(ended.status == 1 && summary["unread"] == unread && summary["waiting"] == unread, "\(ended.errors)")
            #expect(
                ended.errors.contains(
                    "No worker reads \(unread) records of jobs.slow in partitions 6 to 8, which were added, and their jobs are not done."
                ), "\(ended.errors)")
            let shown = try cluster.place.run("lag").output.split(separator: "\n").map { $0.split(separator: " ") }
            #expect(shown.contains { $0.starts(with: ["jobs.slow", "added", "\(unread)"]) })
        }

        @Test("Topics that have all grown while workers run are used by workers that start once no old one is left")
        func grownTogether() async throws {
            let (cluster, first, watch) = try await watched()
            defer { for program in [first, watch.program] { program.signal(SIGKILL) } }
            let all = cluster.configuration.prefix.replacing(".", with: "\\.") + ".*"
            _ = try await cluster.broker.tool("topics", "--alter", "--topic", all, "--partitions", "9")
            try await watch.tells("partitions-added")
            let second = try cluster.worker(named: "second")
            defer { second.signal(SIGKILL) }
            try await cluster.owned(by: ["first", "second"])
            await second.says("Topics have more than the 6 partitions that workers and publishers use: ")
            #expect(try cluster.unparkedLags() == Topic.consumed.count * 6)
            try await watch.tells("partitions-added")
            for worker in [first, second] { worker.signal(SIGTERM) }
            for worker in [first, second] { #expect(try await worker.ended().status == 0) }
            let third = try cluster.worker(named: "third")
            defer { third.signal(SIGKILL) }
            try await cluster.owned(by: ["third"])
            #expect(try cluster.unparkedLags() == Topic.consumed.count * 9)
            try await watch.tells("fine")
        }
    }
}
