import Testing

@testable import WorkerRuntime

@Suite("The progress line", .timeLimit(.minutes(1)))
struct ProgressPaceTests {
    @Test("The estimate follows the last ten seconds; without an end in them there is none")
    func estimate() {
        var pace = ProgressPace()
        func text(_ jobs: Int, _ left: Int64, _ parked: Int64 = 0, at seconds: Double) -> String {
            pace.text(jobs: jobs, variants: jobs, saved: 0, left: left, parked: parked, seconds: seconds)
        }
        #expect(text(0, 8, at: 1) == "0 jobs done, 0 variants (0.0/s), 0 fetches saved, 8 pending")
        #expect(text(1, 7, at: 2).hasSuffix(", 7 pending, about 14 s left"))
        // Seven jobs wait for a host that does not answer: 77 and 152 s were promised here.
        #expect(text(1, 7, at: 11).hasSuffix(", 7 pending, about 70 s left"))
        #expect(text(1, 7, at: 12).hasSuffix(", 7 pending, none done in the last 10 s"))
        #expect(text(1, 7, at: 22).hasSuffix(", 7 pending, none done in the last 10 s"))
        #expect(text(6, 2, at: 32).hasSuffix(", 2 pending, about 4 s left"))
        #expect(
            text(7, 5, 3, at: 33).hasSuffix(", 5 pending, 3 of them parked, about 4 s left for the others"))
        // Seen to fail: "about 1 s left" while three retries were due in 4 s.
        #expect(text(9, 3, 3, at: 34).hasSuffix(", 3 pending, 3 of them parked"))
        #expect(
            pace.text(jobs: 9, variants: 9, saved: 0, left: 5, parked: nil, seconds: 34.5).hasSuffix(", 5 pending"))
        #expect(text(12, 0, at: 35).hasSuffix(", 0 pending"))
    }

    @Test(
        "One is singular",
        arguments: [
            (1, "1 job done, 1 variant (1.0/s), 1 fetch saved"),
            (2, "2 jobs done, 2 variants (2.0/s), 2 fetches saved"),
        ])
    func plurals(count: Int, begins: String) {
        var pace = ProgressPace()
        #expect(
            pace.text(jobs: count, variants: count, saved: count, left: 0, parked: 0, seconds: 1).hasPrefix(begins))
    }
}
