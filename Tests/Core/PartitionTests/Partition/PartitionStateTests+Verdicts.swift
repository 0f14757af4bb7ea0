import Digest
import Failures
import ImageModel
import Images
import Jobs
internal import Ledger
import Partition
import Permits
import Planning
import Records
import Testing

/// What becomes of a job whose variants fail, some of them or all.
extension PartitionStateTests {
    @Test("One variant that cannot be written fails its job; the others of the source are stored")
    func refusedVariant() throws {
        var driver = Driver()
        let id = try #require(flight(driver.feed(.arrived(driver.pending("both", source, [Self.large, Self.small])))))
        _ = driver.feed(.arrived(driver.pending("good", source, [Self.large])))
        _ = driver.feed(.granted(.fetch, id))
        _ = driver.feed(.fetched(id, Self.picture))
        _ = driver.feed(.granted(.render, id))
        let note = FailureNote(code: "render.output", message: "no", verdict: .fail)
        _ = driver.feed(.refusedVariants(id, [Self.small], note))
        let task = try #require(renderTask(driver.feed(.granted(.render, id))))
        #expect(task.batch?.orders.map(\.spec) == [Self.large])
        _ = driver.feed(.rendered(id))
        _ = driver.feed(.announced(id, original: nil, rows: rows(task), position: 2))
        #expect(kinds(driver.feed(.folded(2))) == [.failed, .stored])
    }

    /// What one variant's failure is beside another's, whichever of the two was asked for first.
    static let pairs: [(Verdict, Verdict, ends: String)] = [
        (.wait, .wait, "retry 0"), (.wait, .retry, "retry 0"), (.wait, .fail, "retry 0"),
        (.wait, .deadLetter, "retry 0"),
        (.retry, .retry, "retry 1"), (.retry, .fail, "retry 1"), (.retry, .deadLetter, "retry 1"),
        (.fail, .fail, "failed"), (.fail, .deadLetter, "failed"), (.deadLetter, .deadLetter, "dead"),
    ].flatMap { [$0, ($0.1, $0.0, $0.2)] }

    @Test("Of two failed variants the one with the least final verdict says what becomes of the job", arguments: pairs)
    func mixedVerdicts(first: Verdict, second: Verdict, ends: String) throws {
        var driver = Driver()
        let id = try #require(flight(driver.feed(.arrived(driver.pending("j", source, [Self.large, Self.small])))))
        _ = driver.feed(.granted(.fetch, id))
        _ = driver.feed(.fetched(id, Self.picture))
        _ = driver.feed(.granted(.render, id))
        var effects: [JobEffect] = []
        for (spec, verdict) in [(Self.large, first), (Self.small, second)] {
            effects = driver.feed(
                .refusedVariants(id, [spec], FailureNote(code: verdict.rawValue, message: "", verdict: verdict)))
            _ = driver.feed(.granted(.render, id))
        }
        let least = min(first, second).rawValue
        switch try #require(settled(effects).first) {
        case .outcome(let outcome): #expect(outcome.kind.rawValue == ends && outcome.failure?.code == least)
        case .dead(let deadLetter, _): #expect(ends == "dead" && deadLetter.cause.code == least)
        case .park(let later, _, let cause): #expect(ends == "retry \(later.attempts)" && cause.code == least)
        case .refreshing, .paid, .changed, .unpark, .move, .control, .rekey: Issue.record("\(effects)")
        }
    }

    @Test("What a variant was refused for is found again when the job is retried for another one")
    func refusedAgain() throws {
        var driver = Driver()
        let refusal = FailureNote(code: "render.output", message: "no", verdict: .fail)
        let full = FailureNote(code: "store.full", message: "full", verdict: .wait)
        for (round, ends) in ["retry", "failed"].enumerated() {
            let pending = driver.pending("j", source, [Self.large, Self.small], topic: round == 0 ? .jobsFast : .parked)
            let id = try #require(flight(driver.feed(.arrived(pending))))
            _ = driver.feed(.granted(.fetch, id))
            _ = driver.feed(.fetched(id, Self.picture))
            _ = driver.feed(.granted(.render, id))
            _ = driver.feed(.refusedVariants(id, [Self.large], refusal))
            let task = try #require(renderTask(driver.feed(.granted(.render, id))))
            #expect(task.batch?.orders.map(\.spec) == [Self.small])
            _ = driver.feed(.rendered(id))
            if round == 0 {
                #expect(putOff(driver.feed(.failed(id, full))).count == 1, "not \(ends)")
            } else {
                _ = driver.feed(.announced(id, original: nil, rows: rows(task), position: 2))
                #expect(kinds(driver.feed(.folded(2))).map(\.rawValue) == [ends])
            }
        }
    }
}
