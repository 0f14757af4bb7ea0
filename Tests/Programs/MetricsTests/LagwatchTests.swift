import Canonical
import Foundation
import Glibc
import HTTP
import ImageModel
import Posix
import Records
import TestSupport
import TestWorkplace
import Testing

@Suite("Lagwatch beside the embedded log", .timeLimit(.minutes(3)))
struct LagwatchTests {
    @Test("With every worker dead it says so, and what waits; with one at work again that all is well")
    func dead() async throws {
        let place = try Workplace()
        let urls = place.draw(6)
        try place.publish(urls.map { ($0, ["16x16.png"], .fast) })
        let watch = try await place.lagwatch("lanes.fast.target=100ms")
        defer { watch.program.signal(SIGKILL) }
        let begun = ContinuousClock.now
        try await watch.tells("no-worker")
        try await eventually {
            try await watch.state().sentence.contains("Fast is late: 6 pending, the oldest for ")
        }
        #expect(ContinuousClock.now - begun < .seconds(15))
        let dead = try await watch.state()
        // When it ended, nobody saw.
        #expect(
            dead.sentence.hasPrefix("No worker has been running since at least ") && dead.rows("partitions").count == 8)
        try await eventually { try await watch.state().rows("waits").first?["jobs"] as? Int == 6 }
        let waits = try await watch.state().rows("waits")
        #expect(waits.first?["host"] as? String == place.origin.url(""), "\(waits)")
        #expect(waits.first?["reason"] as? String == "owner" && waits.first?["estimated"] as? Bool == false)
        let metrics = try Exposition(try await watch.asked("/metrics").text)
        #expect(try metrics.sum("mezzotint_consumer_lag_records") == 6)
        #expect(try metrics.value("mezzotint_watch_workers_live") == 0)
        #expect(try metrics.value("mezzotint_watch_cause", "cause=\"no-worker\"") == 1)
        #expect(try metrics.value("mezzotint_watch_log_connected") == 1)

        let worker = try place.worker(untilIdle: false)
        try await watch.tells("fine")
        // Once the worker has counted parked jobs.
        try await eventually { try await watch.state().sentence.contains("Fast has nothing to do.") }
        try await eventually {
            try await watch.state().rows("partitions").allSatisfy {
                $0["state"] as? String == "owned" && $0["epoch"] is Int
            }
        }
        worker.signal(SIGKILL)
        _ = try await worker.ended()
        try await watch.tells("idle")
        try place.publish(place.draw(1).map { ($0, ["16x16.png"], .fast) })
        try await watch.tells("no-worker")
    }

    @Test("It makes nothing: no data directory, no log; and finds the log when it comes")
    func readOnly() async throws {
        let place = try Workplace()
        let watch = try await place.lagwatch()
        defer { watch.program.signal(SIGKILL) }
        let state = try await watch.tells("idle")
        #expect(state.sentence.hasPrefix("Nothing was published yet: ") && state.rows("partitions").isEmpty)
        let page = try await watch.asked("/").text
        #expect(!page.contains("Nothing is pending.") && !page.contains("0 partitions"))
        #expect(!FileManager.default.fileExists(atPath: place.folder.file("data")))
        #expect(try await watch.asked("/healthz").status == 200)
        try place.publish([(place.draw(1)[0], ["16x16.png"], .slow)])
        try await watch.tells("no-worker")
    }

    @Test("A log that is removed and made again under it is another one: the old one's jobs wait no more")
    func replaced() async throws {
        let place = try Workplace()
        func publish(_ count: Int) throws { try place.publish(place.draw(count).map { ($0, ["16x16.png"], .fast) }) }
        try publish(6)
        let watch = try await place.lagwatch()
        defer { watch.program.signal(SIGKILL) }
        func waiting(_ jobs: Int) async throws {
            try await eventually {
                let lanes = try await watch.state().rows("lanes")
                return lanes.first { $0["lane"] as? String == "fast" }?["waiting"] as? Int == jobs
            }
        }
        try await waiting(6)
        // Between two looks.
        try FileManager.default.removeItem(atPath: place.folder.file("data"))
        try publish(2)
        try await waiting(2)
        try FileManager.default.removeItem(atPath: place.folder.file("data"))
        try await watch.tells("log-unreachable")
        let job = "{\"url\":\"\(place.origin.url("/0.png"))\",\"variants\":[\"16x16.png\"],\"lane\":\"fast\"}"
        #expect(try place.run("publish", "-", "--set", "log.partitions=3", input: job).status == 0)
        try await waiting(1)
        #expect(try await watch.state().rows("partitions").count == 3)
    }

    @Test("Workers that are asked are shown by what they tell, and one that is gone by name")
    func workers() async throws {
        let place = try Workplace()
        place.origin.serve("/broken.png", .status(404))
        try place.publish([(place.origin.url("/broken.png"), ["16x16.png"], .fast)])
        let worker = try place.worker(["metrics.listen=127.0.0.1:0"], untilIdle: false)
        defer { worker.signal(SIGKILL) }
        let address = String(try await worker.metricsAddress().dropFirst(7))
        let other = place.origin.url("").dropFirst(7)
        let watch = try await place.lagwatch("watch.workers=\(address)")
        defer { watch.program.signal(SIGKILL) }
        try await eventually { try await watch.state().rows("workers").first?["partitions"] as? Int == 8 }
        try await eventually { try await watch.state().rows("failures").first?["code"] as? String == "fetch.not-found" }
        try await watch.tells("fine")
        worker.signal(SIGSTOP)
        let state = try await watch.tells("worker-silent")
        #expect(state.sentence.hasPrefix("1 of 1 workers (\(address)) has not responded since "))
        worker.signal(SIGCONT)
        try await watch.tells("fine")
        let strange = try await place.lagwatch("watch.workers=[\(other)]")
        defer { strange.program.signal(SIGKILL) }
        try await eventually {
            try await strange.state().rows("workers").first?["message"] as? String == "it responds with status 404"
        }
    }

    @Test(
        "A name with several addresses is asked at each, and looked up again",
        .enabled(if: SmallDisk.canBeMounted, "needs the right to mount (unshare -m)"))
    func names() async throws {
        let place = try Workplace()
        let worker = try place.worker(["metrics.listen=0.0.0.0:0"], untilIdle: false)
        defer { worker.signal(SIGKILL) }
        let port = try #require(try await worker.metricsAddress().split(separator: ":").last)
        let hosts = place.folder.url.appending(path: "hosts")
        func lead(to addresses: String...) throws {
            let file = try FileHandle(forWritingTo: hosts)
            try file.write(contentsOf: Data(addresses.map { "\($0) workers.example\n" }.joined().utf8))
            try file.truncate(atOffset: file.offset())
        }
        try Data().write(to: hosts)
        try lead(to: "127.0.0.3", "127.0.0.2")
        let watch = try await place.lagwatch("watch.workers=[\"workers.example:\(port)\"]", hosts: hosts)
        defer { watch.program.signal(SIGKILL) }
        func asked() async throws -> [String] {
            try await watch.state().rows("workers").filter { $0["partitions"] as? Int == 8 }
                .compactMap { $0["address"] as? String }
        }
        try await eventually { try await asked() == ["127.0.0.2:\(port)", "127.0.0.3:\(port)"] }
        try lead(to: "127.0.0.4")
        try await eventually { try await asked() == ["127.0.0.4:\(port)"] }
        #expect(try await watch.state().rows("workers").count == 1)
    }

    @Test(
        "A store that is full is named within 15 seconds, with what to do, and no more once there is room",
        .enabled(if: SmallDisk.canBeMounted, "needs the right to mount a small disk (unshare -m, tmpfs)"))
    func full() async throws {
        let place = try Workplace()
        let script = """
            mkdir -p data/store && mount -t tmpfs -o size=72m none data/store
            dd if=/dev/zero of=data/store/filler bs=64k 2>/dev/null
            \(Built.program("mezzotint-worker").path) \(place.words) --set metrics.listen=127.0.0.1:0 &
            while [ ! -e go ]; do sleep 0.05; done
            rm data/store/filler
            while [ ! -e end ]; do sleep 0.05; done
            kill $!; wait $!; umount data/store
            """
        let worker = try RunningProgram("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script], in: place.folder.url)
        let address = try await worker.metricsAddress().dropFirst(7)
        let watch = try await place.lagwatch("watch.workers=[\(address)]")
        defer { watch.program.signal(SIGKILL) }
        try await eventually { try await watch.state().rows("workers").first?["partitions"] as? Int == 8 }
        try place.publish(place.draw(6).map { ($0, ["48x48-q80.webp"], .fast) })
        let begun = ContinuousClock.now
        let state = try await watch.tells("store-halted")
        #expect(ContinuousClock.now - begun < .seconds(15))
        #expect(state.sentence.hasPrefix("The store holds jobs back (store.full)"), "\(state.sentence)")
        #expect((state.fields["action"] as? String)?.hasPrefix("Free space") == true)
        try Data().write(to: place.folder.url.appending(path: "go"))
        try await watch.tells("fine")
        try Data().write(to: place.folder.url.appending(path: "end"))
        _ = try await worker.ended()
    }

    @Test(
        "A host that answers 429 is named within 15 seconds, with until when it is left alone; unblocked it is no more")
    func blocked() async throws {
        let place = try Workplace("origins.backoff=60s")
        place.origin.serve("/a.png", .status(429))
        let host = place.origin.url("")
        try place.publish((0..<4).map { _ in (place.origin.url("/a.png"), ["16x16.png"], .slow) })
        let worker = try place.worker(untilIdle: false)
        defer { worker.signal(SIGKILL) }
        let watch = try await place.lagwatch()
        defer { watch.program.signal(SIGKILL) }
        let begun = ContinuousClock.now
        let state = try await watch.tells("host-blocked")
        #expect(ContinuousClock.now - begun < .seconds(15))
        #expect(state.sentence.contains(host), "\(state.sentence)")
        try await eventually { try await watch.state().rows("hosts").first?["state"] as? String == "blocked" }
        let row = try #require(try await watch.state().rows("hosts").first)
        #expect(row["host"] as? String == host && row["code"] as? String == "fetch.too-many-requests", "\(row)")
        #expect(row["until"] as? String != nil)
        try await eventually {
            try await watch.state().sentence.hasPrefix("\(host) (fetch.too-many-requests) is blocked until ")
        }
        try await eventually {
            try Exposition(try await watch.asked("/metrics").text).value("mezzotint_watch_blocked_hosts") == 1
        }
        worker.signal(SIGKILL)
        _ = try await worker.ended()
        #expect(try place.run("origins", "unblock", host).status == 0)
        try await eventually { try await watch.state().rows("hosts").isEmpty }
    }

    @Test(
        "Wrong arguments are one sentence and status 2; a port that is taken says so",
        arguments: [
            (
                ["--listen", "nowhere"], 2,
                "'--listen': expected an IP address and a port, such as 127.0.0.1:9465 or [::1]:9465, got 'nowhere'."
            ),
            (["--lisen", "127.0.0.1:0"], 2, "Did you mean '--listen'?"), (["page"], 2, "Unexpected argument 'page'."),
            (["--config", "nowhere.yaml"], 1, "nowhere.yaml"),
            (["--set", "watch.workers=here"], 1, "watch.workers"),
            (["--listen", "127.0.0.1:TAKEN"], 1, "The page cannot be served (--listen). "),
        ] as [([String], Int32, String)])
    func arguments(words: [String], status: Int32, sentence: String) throws {
        let place = try Workplace()
        let taken = String(place.origin.url("").split(separator: ":").last ?? "")
        let ended = try Built.run(
            "mezzotint-lagwatch", words.map { $0.replacing("TAKEN", with: taken) }, in: place.folder.url)
        #expect(ended.status == status && ended.errors.contains(sentence), "\(ended.errors)")
        #expect(ended.output.isEmpty && ended.errors.split(separator: "\n").count == 1, "\(ended.errors)")
    }

    @Test("Only who asks by an address or by a name that is ours is answered, and pages allow nothing of others")
    func gate() async throws {
        let place = try Workplace()
        let watch = try await place.lagwatch("watch.hosts=lag.example")
        defer { watch.program.signal(SIGKILL) }
        try await watch.tells("idle")
        for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "x lag.example", ""] {
            #expect(try await watch.asked("/", headers: ["Host: \(host)"]).status >= 400, "\(host)")
        }
        for host in ["localhost:9", "LAG.example", "[::1]:9465", "10.1.2.3"] {
            #expect(try await watch.asked("/", headers: ["Host: \(host)"]).status == 200, "\(host)")
        }
        #expect(try await watch.asked("/api/v1/state", headers: ["Origin: https://evil.example"]).status == 403)
        #expect(try await watch.asked("/api/v1/state", headers: ["Origin: \(watch.address)"]).status == 200)
        for path in ["/", "/api/v1/state", "/metrics", "/healthz", "/page.js", "/page.css", "/nothing"] {
            let asked = try await watch.asked(path)
            #expect(asked.head.header("content-security-policy")?.hasPrefix("default-src 'none';") == true, "\(path)")
            #expect(asked.head.header("x-content-type-options") == "nosniff" && asked.head.header("set-cookie") == nil)
        }
        #expect(try await watch.asked("/nothing").status == 404)
        #expect(try await watch.asked("/source").status == 400)
        #expect(try await watch.asked("/source?key=0f").status == 400)
    }

    @Test("However many ask for sources, the metrics are there for all who scrape them")
    func scrapes() async throws {
        let place = try Workplace()
        let url = place.draw(1)[0]
        try place.publish([(url, ["16x16.png"], .fast)])
        let watch = try await place.lagwatch()
        defer { watch.program.signal(SIGKILL) }
        try await watch.tells("no-worker")
        try await withThrowingTaskGroup(of: Set<Int>.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    var seen: Set<Int> = []
                    while !Task.isCancelled { seen.insert(try await watch.asked("/source?url=\(url)").status) }
                    return seen
                }
            }
            for _ in 0..<40 {
                let status = try await watch.asked("/metrics").status
                #expect(status == 200)
            }
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .success(let seen) = result { #expect(seen.isSubset(of: [200, 503])) }
            }
        }
        // Pages that nobody waits for any more have their places for a moment yet.
        try await eventually {
            try await watch.asked("/source?url=\(url)").text.contains("A job of this source waits in jobs.fast.")
        }
    }

    @Test("A job that failed leads to its source's page, however its URL is shown")
    func failedSource() async throws {
        let place = try Workplace()
        place.origin.serve("/gone.png?X-Amz-Signature=77", .status(404))
        try place.publish([(place.origin.url("/gone.png?X-Amz-Signature=77"), ["16x16.png"], .fast)])
        try await place.work()
        let watch = try await place.lagwatch()
        defer { watch.program.signal(SIGKILL) }
        try await eventually { try await watch.state().rows("failures").first?["source"] is String }
        let key = try #require(try await watch.state().rows("failures").first?["source"] as? String)
        let page = try await watch.asked("/source?key=\(key)").text
        #expect(page.contains("Its last job ended as failed: fetch.") && !page.contains("77</h1>"), "\(page)")
        #expect(page.contains("<h1>\(place.origin.url("/gone.png?"))"), "\(page)")
    }

    @Test("A source's page says what was made of it from what, and what became of its jobs; hostile URLs drive nothing")
    func source() async throws {
        let place = try Workplace()
        let url = place.draw(1)[0]
        try place.publish([(url, ["48x48.png"], .fast)], id: "first")
        try await place.work()
        try place.publish([(url, ["12x12.png"], .fast)], id: "second")
        try await place.work()
        let watch = try await place.lagwatch()
        defer { watch.program.signal(SIGKILL) }
        try await watch.tells("idle")
        let page = try await watch.asked("/source?url=\(url)").text
        for words in [
            "48x48.png</td><td data-title=\"Made from\">origin", "12x12.png</td>", "first-0", "second-0", "Fresh until",
            "2 variants are stored, all fresh", " bytes, 1 frame</dd>",
        ] {
            #expect(page.contains(words), "\(words): \(page)")
        }
        try place.publish([(url, ["13x13.png"], .slow)], id: "third")
        #expect(try await watch.asked("/source?url=\(url)").text.contains("A job of this source waits in jobs.slow."))
        let evil = try await watch.asked("/source?url=https://a.example/%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
        #expect(evil.status == 200 && !evil.text.contains("<script>"), "\(evil.text)")
        let none = try await watch.asked("/source?url=ftp:%3Cb%3E")
        #expect(none.status == 200 && none.text.contains("No source") && !none.text.contains("<b>"))
    }

    @Test("A thousand open pages cost no more than one, and keep nobody waiting")
    func thousand() async throws {
        OpenFileLimit.raise()
        let place = try Workplace()
        try place.publish(place.draw(3).map { ($0, ["16x16.png"], .fast) })
        let watch = try await place.lagwatch()
        defer { watch.program.signal(SIGKILL) }
        try await watch.tells("no-worker")
        let before = try #require(ProcessMemory.of(watch.program.pid)?.now)
        let drip = DrippingClients(1_000, port: try #require(URL(string: watch.address)?.port))
        while drip.connects < 1_000 { await Task.yield() }
        var slowest = Duration.zero
        for _ in 0..<50 {
            let begun = ContinuousClock.now
            #expect(try await watch.asked("/").status == 200)
            slowest = max(slowest, ContinuousClock.now - begun)
        }
        let after = try #require(ProcessMemory.of(watch.program.pid))
        print("Lagwatch: \(before >> 20) MiB, among 1,000 clients \(after.now >> 20) MiB, \(slowest) at most")
        #expect(after.peak < 64 << 20)
        #expect(slowest < .milliseconds(500))
    }
}
