import Foundation
import Glibc
import ImageModel
import Ports
import Records
import Telemetry
import TestPixels
import TestSupport
import TestWorkplace
import Testing
import WebServer

@Suite("A worker's metrics and health", .timeLimit(.minutes(2)))
struct WorkerMetricsTests {
    private static let listen = "metrics.listen=127.0.0.1:0"

    /// Publishes what ends in each way but by expiry, and waits for the end of all.
    private func work(at place: Workplace, _ worker: RunningProgram) async throws {
        let urls = place.draw(3)
        place.origin.serve("/gone.png", .status(404))
        try place.publish(urls.map { ($0, ["48x48.png", "24x24-q80.webp"], .fast) }, id: "first")
        try await answered(3, by: worker)
        try place.publish([(urls[0], ["48x48.png"], .slow), (urls[1], ["12x12.png"], .slow)], id: "again")
        try place.publish([(place.origin.url("/gone.png"), ["48x48.png"], .fast)], id: "gone")
        let partition = PartitionID(0)
        try await place.append([NewRecord(topic: .jobsFast, partition: partition, key: [], value: Array("no job".utf8))]
        )
        try await answered(7, by: worker)
    }

    private func answered(_ count: Double, by worker: RunningProgram) async throws {
        try await eventually { try await worker.metrics().sum("mezzotint_jobs_total") == count }
    }

    @Test("They say what the summary says at the end, and every family is there")
    func counts() async throws {
        let place = try Workplace()
        let worker = try place.worker([Self.listen], untilIdle: false)
        try await work(at: place, worker)
        let metrics = try await worker.metrics()
        #expect(Set(metrics.families.keys) == Set(Metric.allCases.map(\.rawValue)))
        func jobs(_ lane: Lane, _ kind: OutcomeKind) throws -> Double {
            try metrics.value("mezzotint_jobs_total", "lane=\"\(lane.rawValue)\"", "outcome=\"\(kind.rawValue)\"")
        }
        #expect(try jobs(.fast, .stored) == 3)
        #expect(try jobs(.slow, .unchanged) == 1 && jobs(.slow, .reused) == 1)
        #expect(try jobs(.fast, .failed) == 1 && jobs(.fast, .dead) == 1)
        #expect(try jobs(.fast, .expired) == 0)
        #expect(try jobs(.fast, .cancelled) == 0)
        #expect(try metrics.value("mezzotint_job_failures_total", "code=\"fetch.not-found\"") == 1)
        #expect(try metrics.value("mezzotint_failures_total", "code=\"fetch.not-found\"") == 1)
        for code in ["log.unavailable", "store.full", "render.crashed"] {
            #expect(try metrics.value("mezzotint_failures_total", "code=\"\(code)\"") == 0)
        }
        #expect(try metrics.value("mezzotint_partitions_owned") == 8)
        #expect(try metrics.value("mezzotint_partitions_assigned_total") == 8)
        #expect(try metrics.value("mezzotint_permits", "kind=\"render\"") == 2)
        for idle in ["mezzotint_records_unfinished", "mezzotint_outcomes_pending", "mezzotint_permits_in_use"] {
            try await eventually { try await worker.metrics().sum(idle) == 0 }
        }
        // Three jobs were made, one in part from what was stored; two formats make one decode of several.
        func count(_ family: String, _ labels: String) throws -> Double {
            try metrics.value(family, "_count" + labels)
        }
        #expect(try count("mezzotint_job_wait_seconds", "lane=\"fast\"") == 3)
        #expect(try count("mezzotint_job_wait_seconds", "lane=\"slow\"") == 2)
        #expect(try count("mezzotint_job_work_seconds", "lane=\"fast\"") == 3)
        #expect(try count("mezzotint_fetch_seconds", "lane=\"fast\"") == 4)
        #expect(try count("mezzotint_render_seconds", "format=\"several\",lane=\"fast\"") == 3)
        #expect(try count("mezzotint_render_seconds", "format=\"png\",lane=\"slow\"") == 1)
        #expect(try count("mezzotint_store_put_seconds", "lane=\"fast\"") == 3)
        #expect(try count("mezzotint_log_append_seconds", "") > 4)
        #expect(try metrics.value("mezzotint_log_connected") == 1)
        #expect(try metrics.value("mezzotint_partitions") == 8)
        #expect(try metrics.sum("mezzotint_build_info") == 1)
        #expect(try metrics.value("mezzotint_stored_bytes_total") > 0)
        #expect(try metrics.value("mezzotint_disk_free_bytes", "folder=\"store\"") > 0)
        #expect(try metrics.value("mezzotint_job_failures_total", "code=\"render.crashed\"") == 0)
        #expect(try metrics.value("mezzotint_donor_refusals_total", "reason=\"scale\"") == 0)
        #expect((10...10_000).contains(try metrics.value("process_open_fds")))
        #expect(try metrics.value("process_max_fds") > 100)
        #expect(try metrics.value("mezzotint_renderer_cpu_seconds_total") > 0)
        try await eventually { try await worker.metrics().sum("mezzotint_dead_letters") == 1 }
        #expect(try metrics.value("process_cpu_seconds_total") > 0)
        #expect(try metrics.value("process_resident_memory_bytes") > 4_000_000)
        #expect(try metrics.sum("mezzotint_renderer_resident_memory_bytes") > 4_000_000)
        let now = Date().timeIntervalSince1970
        #expect((now - 120...now).contains(try metrics.value("process_start_time_seconds")))

        worker.signal(SIGTERM)
        let summary = try Summary(try await worker.ended())
        for (name, counted) in [
            ("jobs", try metrics.sum("mezzotint_jobs_total")),
            ("requests", try metrics.value("mezzotint_fetches_total")),
            ("fetchedBytes", try metrics.value("mezzotint_fetched_bytes_total")),
            ("renders", try metrics.value("mezzotint_renders_total")),
            ("stored", try metrics.value("mezzotint_variants_total", "result=\"stored\"")),
            ("reused", try metrics.value("mezzotint_variants_total", "result=\"reused\"")),
            ("unchanged", try metrics.value("mezzotint_variants_total", "result=\"unchanged\"")),
        ] {
            #expect(Double(summary[name]) == counted && counted > 0, "\(name)")
        }
    }

    @Test("Metrics count workers that were killed or could not start, and show the last log line of the process before")
    func lastLine() async throws {
        let place = try Workplace()
        func page(of worker: RunningProgram) async throws -> (line: Substring?, crashes: Double) {
            await worker.says("The worker runs")
            let text = try await Asked(try await worker.metricsAddress() + "/metrics").text
            let line = text.split(separator: "\n").first { $0.hasPrefix(LastLine.prefix) }
            return (line, try Exposition(text).value("mezzotint_crashes_total"))
        }
        let killed = try place.worker([Self.listen], untilIdle: false)
        let first = try await page(of: killed)
        #expect(first.line == nil && first.crashes == 0)
        let file = place.folder.url.appending(path: "data/last-line-127.0.0.1:0")
        try await eventually { try String(contentsOf: file, encoding: .utf8).contains("The worker runs.") }
        killed.signal(SIGKILL)
        _ = try await killed.ended()
        let failing = try place.worker([Self.listen, "store.directory=/proc/nowhere"], untilIdle: false)
        #expect(try await failing.ended().status == 1)
        let next = try place.worker([Self.listen], untilIdle: false)
        let third = try await page(of: next)
        #expect(third.line?.contains("/proc/nowhere") == true && third.crashes == 2, "\(third)")
        next.signal(SIGTERM)
        #expect(try await next.ended().status == 0)
        let last = try place.worker([Self.listen], untilIdle: false)
        let fourth = try await page(of: last)
        #expect(fourth.line == nil && fourth.crashes == 2)
        last.signal(SIGTERM)
        #expect(try await last.ended().status == 0)
    }

    @Test("How often a host was asked for nothing new, and answered for: as metrics, to scripts, and to people")
    func origins() async throws {
        let place = try Workplace()
        let host = "http://127.0.0.1:\(place.origin.port)"
        func serve(_ seed: UInt64) {
            place.origin.serve(
                "/a.png",
                .tagged(
                    Pixels.photograph(width: 96, height: 72, seed: seed).png, type: "image/png", tag: "\"\(seed)\"",
                    headers: [("Cache-Control", "max-age=0")]))
        }
        let worker = try place.worker([Self.listen], untilIdle: false)
        for round in 1...6 {
            if round == 6 { place.origin.serve("/a.png", .status(500)) } else { serve(round < 5 ? 1 : 2) }
            try place.publish([(place.origin.url("/a.png"), ["24x24-q80.webp"], .fast)], id: "\(round)")
            try await answered(Double(round), by: worker)
        }
        // A new one, three 304s, other bytes, and none.
        let metrics = try await worker.metrics()
        func checks(_ result: String) throws -> Double {
            try metrics.value("mezzotint_origin_checks_total", "host=\"\(host)\"", "result=\"\(result)\"")
        }
        #expect(try checks("match") == 3 && checks("change") == 1)
        #expect(try metrics.value("mezzotint_origin_stale_outcomes_total", "host=\"\(host)\"") == 1)
        try await eventually {
            let output = try place.run("origins", "--json").output
            return output.contains("\"matchRate\":0.75,\"staleOutcomes\":1}")
        }
        let lines = try place.run("origins").lines
        #expect(lines.first?.split(separator: " ").suffix(2) == ["SAME", "STALE"])
        #expect(lines.last?.split(separator: " ").suffix(3) == ["75", "%", "1"], "\(lines)")
        worker.signal(SIGTERM)
        #expect(try await worker.ended().status == 0)
    }

    @Test("What waits is told with its age, and what a restore took in is counted")
    func restored() async throws {
        let place = try Workplace("fetch.timeouts.total=60s", "fetch.timeouts.firstByte=60s")
        let urls = place.draw(4)
        try place.publish(urls.map { ($0, ["48x48.png"], .fast) })
        try await place.work()
        try FileManager.default.removeItem(at: place.folder.url.appending(path: "data/index"))
        let gate = Gate()
        place.origin.serve("/held.png", .gated(gate, .bytes(Workplace.picture(9).png, type: "image/png")))
        try place.publish([(place.origin.url("/held.png"), ["48x48.png"], .slow)], id: "held")
        let worker = try place.worker([Self.listen], untilIdle: false)
        try await eventually { try await worker.metrics().sum("mezzotint_consumer_lag_records") == 1 }
        let metrics = try await worker.metrics()
        #expect(try metrics.sum("mezzotint_consumer_lag_seconds") > 0)
        // A row for each source and each variant.
        #expect(try metrics.value("mezzotint_restored_rows_total") == 8)
        #expect(try metrics.value("mezzotint_partitions_restoring") == 0)
        #expect(try metrics.value("mezzotint_restore_rows_left") == 0)
        #expect(try metrics.value("mezzotint_records_unfinished", "topic=\"jobs.slow\"") == 1)
        // Late after a second.
        let fetching = try ["fetch", "slow-fetch"].map {
            try metrics.value("mezzotint_permits_in_use", "kind=\"\($0)\"")
        }
        #expect(fetching.reduce(0, +) == 1)
        #expect(try metrics.value("mezzotint_work_under_way") == 1)
        gate.open()
        try await eventually { try await worker.metrics().sum("mezzotint_consumer_lag_records") == 0 }
        #expect(try await worker.metrics().sum("mezzotint_consumer_lag_seconds") == 0)
    }

    @Test("It is ready when it takes jobs; other paths are not found")
    func health() async throws {
        let place = try Workplace()
        let worker = try place.worker([Self.listen], untilIdle: false)
        let address = try await worker.metricsAddress()
        try await eventually { try await Asked(address + "/readyz").status == 200 }
        let ready = try await Asked(address + "/readyz")
        #expect(ready.text == "The worker takes jobs: it owns 8 partitions.\n")
        #expect(try await Asked(address + "/healthz").text == "The worker lives.\n")
        let root = try await Asked(address + "/")
        #expect(root.status == 404 && root.text.contains("/metrics, /healthz and /readyz"))
    }

    @Test("One that is told to stop is not ready, and lives until it has finished")
    func stopping() async throws {
        let place = try Workplace()
        let gate = Gate()
        place.origin.serve("/held.png", .gated(gate, .bytes(Workplace.picture(9).png, type: "image/png")))
        try place.publish([(place.origin.url("/held.png"), ["48x48.png"], .fast)])
        let worker = try place.worker([Self.listen], untilIdle: false)
        let address = try await worker.metricsAddress()
        try await eventually { try await worker.metrics().value("mezzotint_work_under_way") == 1 }
        worker.signal(SIGTERM)
        await worker.says("The worker is stopping")
        let stopping = try await Asked(address + "/readyz")
        #expect(stopping.status == 503 && stopping.text.contains("is stopping"))
        #expect(try await Asked(address + "/healthz").status == 200)
        gate.open()
        #expect(try await worker.ended().status == 0)
    }

    @Test(
        "Two workers on Kafka tell of what each owns; without the broker both live, and what they cannot know is left out",
        .enabled(if: KafkaBroker.isHere, Comment(rawValue: KafkaBroker.absent)))
    func shared() async throws {
        let broker = try await KafkaBroker.start { _ in ["group.min.session.timeout.ms=500"] }
        let place = try await Workplace.onKafka(broker, partitions: 6, Self.listen)
        let workers = [try place.worker([], untilIdle: false), try place.worker([], untilIdle: false)]
        func sum(_ name: String) async throws -> Double {
            var sum = 0.0
            for worker in workers { sum += try await worker.metrics().sum(name) }
            return sum
        }
        for worker in workers {
            try await eventually { try await worker.metrics().value("mezzotint_partitions_owned") == 3 }
        }
        try place.publish(place.draw(6).map { ($0, ["48x48.png"], .fast) })
        try await eventually { try await sum("mezzotint_jobs_total") == 6 }
        try await eventually { try await sum("mezzotint_consumer_lag_records") == 0 }
        // Each topic of each partition, and its parked jobs, at one worker.
        try await eventually {
            var places: [String] = []
            for worker in workers {
                places += try #require(try await worker.metrics().families["mezzotint_consumer_lag_records"]).samples
                    .keys
            }
            let all = 6 * (Topic.consumed.count + 1)
            return places.count == all && Set(places).count == all
        }
        try await broker.run("kill", "1")
        for worker in workers {
            try await eventually {
                // The index counts parked jobs.
                try await worker.metrics().families["mezzotint_consumer_lag_records"]?.samples.keys
                    .allSatisfy { $0.contains("parked") } == true
            }
            try await eventually { try await worker.metrics().value("mezzotint_log_connected") == 0 }
            #expect(try await Asked(try await worker.metricsAddress() + "/healthz").status == 200)
        }
    }

    @Test("An address that cannot be had ends the start, and says which and why")
    func taken() async throws {
        let server = try WebServer { _ in .notFound }
        let place = try Workplace()
        let ended = try await place.worker(["metrics.listen=127.0.0.1:\(server.port)"], untilIdle: true).ended()
        #expect(ended.status == 1)
        #expect(ended.errors.contains("metrics.listen") && ended.errors.contains("port \(server.port) of 127.0.0.1"))
        #expect(ended.errors.contains("Address already in use"))
        let doctor = try place.run("doctor", "--set", "metrics.listen=127.0.0.1:\(server.port)")
        #expect(doctor.status == 1 && doctor.output.contains("Address already in use"))
        #expect(try place.run("doctor", "--set", "metrics.listen=127.0.0.1:0").output.contains("can be listened on"))
    }

    @Test("Without the setting it listens nowhere")
    func off() async throws {
        let place = try Workplace()
        let worker = try place.worker([], untilIdle: false)
        await worker.says("The worker runs")
        let sockets = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(worker.pid)/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(worker.pid)/fd/\($0)")
        }.filter { $0.hasPrefix("socket:") }
        let tables = try ["tcp", "tcp6"].map {
            try String(contentsOfFile: "/proc/\(worker.pid)/net/\($0)", encoding: .utf8)
        }
        for socket in sockets {
            let inode = " " + socket.dropFirst("socket:[".count).dropLast() + " "
            // 0A: listening.
            #expect(!tables.joined().split(separator: "\n").contains { $0.contains(inode) && $0.contains(" 0A ") })
        }
        #expect(!worker.errors.contains("Metrics are served"))
    }
}
