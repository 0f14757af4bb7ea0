import Telemetry
import Testing

@Suite("Metrics in Prometheus's text format")
struct MetricsPageTests {
    @Test("Labels and numbers come back as they went in, whatever is in them")
    func values() throws {
        var page = MetricsPage()
        let code = "a \"quoted\\path\"\nand é"
        page.add(
            Metric.permits,
            [
                .init(3, "plain"), .init(0.25, code), .init(.nan, "nan"), .init(.infinity, "most"),
                .init(1 << 52, "large"),
            ])
        page.add(Metric.lagSeconds, [.init(-.infinity, "jobs.fast", "7")])
        page.add(Metric.processStart, [.init(1.5e300)])
        page.add(Metric.lagRecords, [])
        let read = try Exposition(page.text)
        #expect(try read.value("mezzotint_permits", "kind=\"plain\"") == 3)
        #expect(try read.value("mezzotint_permits", "kind=\"\(code)\"") == 0.25)
        #expect(try read.value("mezzotint_permits", "kind=\"nan\"").isNaN)
        #expect(try read.value("mezzotint_permits", "kind=\"most\"") == .infinity)
        #expect(page.text.contains("{kind=\"large\"} 4503599627370496\n"))
        #expect(
            try read.value("mezzotint_consumer_lag_seconds", "topic=\"jobs.fast\"", "partition=\"7\"") == -.infinity)
        #expect(try read.value("process_start_time_seconds") == 1.5e300)
        #expect(read.families["mezzotint_consumer_lag_records"]?.samples.isEmpty == true)
    }

    @Test("A histogram counts in each bucket what took at most so long, and all in the last")
    func histogram() throws {
        var histogram = Histogram([0.1, 1])
        for seconds in [0.05, 0.1, 0.5, 7, -3] { histogram.observe(seconds: seconds) }
        var page = MetricsPage()
        page.add(Metric.fetchTime, histograms: [(["fast"], histogram), (["slow"], Histogram([0.1, 1]))])
        let family = try #require(try Exposition(page.text).families["mezzotint_fetch_seconds"])
        #expect(family.type == "histogram")
        for (bound, count) in [("0.1", 3.0), ("1", 4), ("+Inf", 5)] {
            #expect(family.samples["_bucketlane=\"fast\",le=\"\(bound)\""] == count)
        }
        #expect(family.samples["_sumlane=\"fast\""] == 7.65 && family.samples["_countlane=\"fast\""] == 5)
        #expect(family.samples["_countlane=\"slow\""] == 0)
    }

    @Test("Every family is described, by a sentence that a table can hold", arguments: Metric.allCases)
    func described(metric: Metric) throws {
        var page = MetricsPage()
        page.add(metric, [])
        let family = try #require(try Exposition(page.text).families[metric.rawValue])
        #expect(family.type == metric.type && family.help == metric.meaning)
        #expect(metric.meaning.hasSuffix(".") && !metric.meaning.contains("|"))
        #expect(metric.rawValue.hasPrefix("mezzotint_") || metric.rawValue.hasPrefix("process_"))
    }

    @Test(
        "The tests' reader refuses what Prometheus would refuse, or read otherwise than it was meant",
        arguments: [
            "", "a 1", "a 1\n", "# HELP a b\n# TYPE a gauge\na 1", "# HELP a b\na 1\n", "# HELP a b\n# TYPE b gauge\n",
            "# HELP a b\n# TYPE a gauge\nc 1\n", "# HELP a b\n# TYPE a gauge\na 1\na 2\n",
            "# HELP a b\n# TYPE a gauge\na{x=1} 1\n",
            "# HELP a b\n# TYPE a gauge\na{x=\"1} 1\n", "# HELP a b\n# TYPE a gauge\na{x=\"\\t\"} 1\n",
            "# HELP a b\n# TYPE a gauge\na{x=\"1\",x=\"2\"} 1\n", "# HELP a b\n# TYPE a gauge\na one\n",
            "# HELP a b\n# TYPE a gauge\na  1\n", "# HELP a b\n# TYPE a gauge\na 1 \n",
            "# HELP a b\n# TYPE a counter\n",
            "# HELP a_total b\n# TYPE a_total counter\na_total -1\n", "# HELP a b\n# TYPE a gauge\n\n",
            "# HELP a \\t\n# TYPE a gauge\n", "# HELP a b\n# TYPE a histogram\na 1\n",
            "# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
            "# HELP a b\n# TYPE a gauge\n# HELP a b\n# TYPE a gauge\n", "# HELP 1a b\n# TYPE 1a gauge\n",
        ])
    func refused(text: String) { #expect(throws: Exposition.Violation.self) { try Exposition(text) } }
}
