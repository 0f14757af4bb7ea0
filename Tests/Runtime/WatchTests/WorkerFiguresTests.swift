import Clocks
import TestSupport
import Testing

@testable import Watch

@Suite("A worker's metrics, as another version may tell them", .timeLimit(.minutes(1)))
struct WorkerFiguresTests {
    @Test("What is told is taken; what is not is nil")
    func taken() throws {
        let page = """
            # HELP mezzotint_partitions_owned x
            # TYPE mezzotint_partitions_owned gauge
            mezzotint_partitions_owned 6
            mezzotint_permits{kind="fetch"} 32
            mezzotint_permits_in_use{kind="fetch"} 7 1790000000000
            mezzotint_failures_total{code="store.full"} 3
            mezzotint_failures_total{code="a \\"b\\\\c\\n"} 1
            mezzotint_build_info{version="9.9",client="w1"} 1
            mezzotint_step_sources{step="store"} 20
            mezzotint_step_oldest_seconds{step="store"} 16.5
            mezzotint_step_oldest_seconds{step="of tomorrow"} 3
            mezzotint_of_tomorrow_bucket{le="+Inf"} 3
            process_resident_memory_bytes 1.5e+07
            # The log of the process before ended with: 10:28:36 ERROR \u{1B}[2JNo space.
            """
        let figures = try #require(WorkerFigures(page))
        #expect(figures.owned == 6 && figures.fetchPermits == .init(used: 7, all: 32))
        #expect(figures.failures == ["store.full": 3, "a \"b\\c\\u000a": 1])
        #expect(figures.version == "9.9" && figures.client == "w1" && figures.memory == 15_000_000)
        #expect(figures.steps == ["store": .init(sources: 20, oldest: 16_500)])
        #expect(figures.lastLine == "10:28:36 ERROR \\u001b[2JNo space.")
        #expect(figures.restoring == nil && figures.rendererLosses == nil && figures.renderPermits == .init())
    }

    @Test(
        "Pages of other programs, and other text, give no figures",
        arguments: [
            "", "<html>", "node_cpu_seconds_total 4\n", "mezzotint_partitions_owned", "mezzotint_partitions_owned NaN",
            "mezzotint_partitions_owned +Inf", "mezzotint_partitions_owned{a=\"b 6", "mezzotint_partitions_owned{a} 6",
            "mezzotint_partitions_owned{a=\"b\" 6",
        ])
    func refused(page: String) { #expect(WorkerFigures(page) == nil) }

    @Test("Numbers beyond all bounds, and codes without end, cost nothing")
    func bounded() throws {
        var page = "mezzotint_partitions_owned 1e300\nmezzotint_partitions_restoring 2.4\n"
        for code in 0..<2_000 { page += "mezzotint_failures_total{code=\"c\(code)\"} 1\n" }
        let figures = try #require(WorkerFigures(page))
        #expect(figures.owned == nil && figures.restoring == 2 && figures.failures.count == 500)
        let long = String(repeating: "1", count: 5_000)
        let named = try #require(
            WorkerFigures("mezzotint_partitions_owned 1\nmezzotint_build_info{version=\"\(long)\"} 1"))
        #expect(named.version == nil)
        let negative = try #require(
            WorkerFigures("mezzotint_partitions_owned -5\nprocess_resident_memory_bytes -1e14\n"))
        #expect(negative.owned == nil && negative.memory == nil)
    }
}
