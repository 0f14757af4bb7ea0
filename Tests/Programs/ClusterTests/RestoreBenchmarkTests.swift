import TestSupport
import Testing

extension ClusterTests {
    /// Seen to fail: the worker waited without end for the store that has the files of the benchmark's rows.
    @Test("mezzotint-bench kafka-restore ends, and reports its rows")
    func restoreBenchmark() async throws {
        let broker = try await KafkaBroker.shared.value
        let folder = try TemporaryFolder()
        let words = ["kafka-restore", "--rows", "1000", "--bootstrap", broker.bootstrap, "--json"]
        let bench = try RunningProgram("mezzotint-bench", words, in: folder.url)
        let ended = try await bench.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.output.contains(#""rows":1000,"#), "\(ended.output)")
    }
}
