import Telemetry
import Testing

@Suite("Metrics", .timeLimit(.minutes(1)))
struct MetricsTests {
    @Test("The text is Prometheus's, sorted by name and labels")
    func exposition() {
        let metrics = MetricsRegistry()
        let wait = metrics.histogram("mz_wait_seconds", "Publish to stored.", ["lane": "fast"], bounds: [0.1, 1, 10])
        for value in [0.05, 0.1, 0.5, 100, .nan] { wait.record(value) }
        wait.record(.milliseconds(1500))
        metrics.counter("mz_jobs_total", "Jobs by \"lane\" \\ end.\nMore.", ["lane": "slow", "kind": "a\"b\\c\nd"]).increment(by: 2)
        metrics.counter("mz_jobs_total", "", ["lane": "fast", "kind": "stored"]).increment()
        metrics.gauge("mz_free_bytes", "Room.").record(1.5)
        metrics.gauge("mz_broken", "None.").record(.infinity)
        #expect(
            metrics.exposition == #"""
                # HELP mz_broken None.
                # TYPE mz_broken gauge
                mz_broken +Inf
                # HELP mz_free_bytes Room.
                # TYPE mz_free_bytes gauge
                mz_free_bytes 1.5
                # HELP mz_jobs_total Jobs by "lane" \\ end.\nMore.
                # TYPE mz_jobs_total counter
                mz_jobs_total{lane="fast",kind="stored"} 1
                mz_jobs_total{lane="slow",kind="a\"b\\c\nd"} 2
                # HELP mz_wait_seconds Publish to stored.
                # TYPE mz_wait_seconds histogram
                mz_wait_seconds_bucket{lane="fast",le="0.1"} 2
                mz_wait_seconds_bucket{lane="fast",le="1"} 3
                mz_wait_seconds_bucket{lane="fast",le="10"} 4
                mz_wait_seconds_bucket{lane="fast",le="+Inf"} 5
                mz_wait_seconds_sum{lane="fast"} 102.15
                mz_wait_seconds_count{lane="fast"} 5

                """#)
    }

    @Test("The same name and labels are the same instrument")
    func identity() {
        let metrics = MetricsRegistry()
        #expect(metrics.counter("a", "", ["x": "1"]) === metrics.counter("a", "", ["x": "1"]))
        #expect(metrics.counter("a", "", ["x": "1"]) !== metrics.counter("a", "", ["x": "2"]))
    }

    @Test("Labels are bounded: what is over the limit counts as other")
    func bounded() {
        let metrics = MetricsRegistry(seriesLimit: 3)
        for i in 0..<1_000 { metrics.counter("failures_total", "", ["code": "code-\(i)"]).increment() }
        metrics.counter("failures_total", "", ["code": "code-1"]).increment()
        #expect(metrics.counter("failures_total", "", ["code": "other"]).value == 997)
        #expect(metrics.counter("failures_total", "", ["code": "code-1"]).value == 2)
        #expect(metrics.exposition.split(separator: "\n").count == 2 + 4)
    }

    @Test("Nothing is lost between tasks")
    func concurrency() async {
        let metrics = MetricsRegistry()
        let counter = metrics.counter("c", "")
        let gauge = metrics.gauge("g", "")
        let histogram = metrics.histogram("h", "", bounds: [1])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<5_000 {
                        counter.increment()
                        gauge.adjust(by: 1)
                        histogram.record(0.5)
                    }
                }
            }
        }
        #expect(counter.value == 40_000 && gauge.value == 40_000)
        #expect(metrics.exposition.contains("h_count 40000\n") && metrics.exposition.contains("h_sum 20000\n"))
    }

    @Test("A counter never goes back")
    func monotone() {
        let counter = MetricsRegistry().counter("c", "")
        counter.increment(by: 3)
        counter.increment(by: -2)
        #expect(counter.value == 3)
    }
}
