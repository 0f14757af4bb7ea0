import TestSupport
import Testing

@Suite("A campaign of hostile inputs", .timeLimit(.minutes(3)))
struct CampaignTests {
    /// `ops/campaign` measures the time of innocent jobs, too: here other tests have the processor.
    @Test("Thirty seconds of it end no worker and lose no job")
    func short() throws {
        let ended = try Built.run("mezzotint-campaign", ["--seconds", "\(Effort.count(landing: 30, all: 60))"])
        // Damage that all looks alike would try nothing. Of few records all good ones may be of sources that are stored.
        let (good, bad) = (["stored", "reused", "unchanged"], ["failed", "dead"])
        for input in ["files", "answers", "records"] {
            let line = ended.lines.first { $0.hasPrefix(input) } ?? ""
            #expect(good.contains(where: line.contains) && bad.contains(where: line.contains), "\(line)")
        }
        // Nor would damage that leaves nothing to render.
        let files = ended.lines.first { $0.hasPrefix("files") } ?? ""
        let counts = try #require(files.firstMatch(of: /files: (\d+) .*stored (\d+)/))
        let (all, stored) = (try #require(Double(counts.1)), try #require(Double(counts.2)))
        #expect((0.3...0.6).contains(stored / all), "\(files)")
        let rows = ended.lines.first { $0.hasPrefix("damaged rows") } ?? ""
        let told = rows.split { !$0.isNumber }.compactMap { Int($0) }
        try #require(told.count == 5, "\(rows)")
        #expect(told[1] > 0 && told[1] < told[0] && told[3] == told[4], "\(rows)")
        // Compaction may take a row before it is read. Rows that the index could not take are told of again.
        #expect(abs(told[1] - told[2]) <= told[1] / 50, "\(rows)")
        for line in ["crashes of the worker: 0", "jobs without an outcome: 0", "jobs with more than one: 0"] {
            #expect(ended.lines.contains { $0 == line }, "\(ended.output)\(ended.errors.suffix(2_000))")
        }
    }
}
