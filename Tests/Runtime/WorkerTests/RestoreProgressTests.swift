import TestSupport
import Testing
import WorkerRuntime

@Suite("How far a restore has come")
struct RestoreProgressTests {
    @Test("It counts rows of all partitions, says so every five seconds, and begins anew when all are restored")
    func progress() {
        var progress = RestoreProgress()
        progress.begin(600, at: 1_000)
        progress.begin(400, at: 2_000)
        progress.begin(-5, at: 2_000)
        #expect(progress.rows == 0 && progress.expected == 1_000)
        let before = progress.text(at: 9_000)
        progress.add(300)
        let texts = [5_999, 6_000, 10_999].map { progress.text(at: $0) }
        let told = "Restoring from the changelog: 300 rows of at most 1000 records in 5.0 s (60 a second)."
        #expect(before == nil && texts == [nil, told, nil])
        progress.add(690)
        #expect(progress.rows == 990)
        let end = progress.end(at: 11_000)
        #expect(end?.rows == 990 && end?.text == "Restored 990 rows from the changelog in 10.0 s (99 a second).")
        #expect(progress.rows == 0 && progress.expected == 0)
    }

    @Test("What is not waited for any more is out of what is expected, and what comes after the end has its own pace")
    func leaving() {
        var progress = RestoreProgress()
        progress.begin(600, at: 0)
        progress.begin(400, at: 0)
        progress.add(200)
        progress.leave(400)
        progress.leave(-3)
        #expect(progress.expected == 600)
        progress.leave(400)
        #expect(progress.expected == 200 && progress.rows == 200)
        let (end, silence) = (progress.end(at: 9_000), progress.text(at: 60_000))
        #expect(end?.rows == 200 && silence == nil)
        progress.begin(100, at: 70_000)
        progress.add(50)
        let text = progress.text(at: 75_000)
        #expect(text == "Restoring from the changelog: 50 rows of at most 100 records in 5.0 s (10 a second).")
    }

    @Test("Where nothing had to be restored nothing is said")
    func nothing() {
        var progress = RestoreProgress()
        progress.begin(0, at: 0)
        let (text, end) = (progress.text(at: 60_000), progress.end(at: 60_000))
        #expect(text == nil && end?.text == nil)
    }
}
