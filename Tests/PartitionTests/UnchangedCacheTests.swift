import Canonical
import Digest
import ImageModel
import Planning
import Records
import Testing
import VariantSpec

@testable import Partition

@Suite("Jobs of a burst that find the same are answered alike")
struct UnchangedCacheTests {
    private static let large = VariantSpec(width: 1280, height: 1280, format: .webp)
    private static let small = VariantSpec(width: 160, height: 160, format: .webp)
    private static let source = SourceKey(SHA256.digest(of: Array("a".utf8)))

    private static func row(_ spec: VariantSpec, expires: Int64) -> VariantRow {
        let size = PixelSize(width: 2_000, height: 1_000)
        let placement = spec.placement(of: size)
        return VariantRow(
            source: source, spec: spec, version: SourceVersion(word: 1), size: placement.output, bytes: 1,
            digest: SHA256.digest(of: []), location: "\(spec)", madeFrom: .origin, sourceSize: size,
            region: placement.region, hasAlpha: false, storedAt: 0, expires: expires)
    }

    private static func job(_ variants: [VariantSpec], of source: SourceKey = source) -> Job {
        Job(id: "1", url: "http://o/a", source: source, variants: variants, lane: .fast)
    }

    private let rows = [row(large, expires: 1_000), row(small, expires: 500)]

    @Test(
        "An answer holds for the same wants of the same look, until the first of its rows is stale",
        arguments: [
            ([large, small], 0, true, true), ([large, small], 499, true, true), ([large, small], 500, true, false),
            ([large, small], 0, false, false), ([small, large], 0, true, false), ([large], 0, true, false),
        ])
    func holds(_ wanted: [VariantSpec], _ now: Int64, _ isSameLook: Bool, _ isKnown: Bool) {
        let look = SourceSnapshot(variants: rows)
        var answers = UnchangedCache()
        _ = answers.note(unchanged: [0, 1], of: Self.job([Self.large, Self.small]), look, at: 0, ReuseRules())
        let noted = answers.note(unchanged: [0, 1], of: Self.job([Self.large, Self.small]), look, at: 0, ReuseRules())
        // Rows that were read again may be others, for all that an answer knows.
        let found = answers.unchanged(Self.job(wanted), isSameLook ? look : SourceSnapshot(variants: rows), at: now)
        #expect(found.map { $0 === noted } ?? false == isKnown)
    }

    @Test("What comes once is not kept")
    func once() {
        let (look, job) = (SourceSnapshot(variants: rows), Self.job([Self.large, Self.small]))
        var answers = UnchangedCache()
        _ = answers.note(unchanged: [0, 1], of: job, look, at: 0, ReuseRules())
        #expect(answers.unchanged(job, look, at: 0) == nil)
    }

    @Test("Where what is stale may be given, an answer never ends by time")
    func stale() {
        let (look, job) = (SourceSnapshot(variants: rows), Self.job([Self.large, Self.small]))
        var answers = UnchangedCache()
        for _ in 0..<2 { _ = answers.note(unchanged: [0, 1], of: job, look, at: 0, ReuseRules(allowsStale: true)) }
        #expect(answers.unchanged(job, look, at: 1 << 40) != nil)
    }

    @Test("Rows are let go when the burst is over")
    func lettingGo() {
        let (look, job) = (SourceSnapshot(variants: rows), Self.job([Self.large, Self.small]))
        var answers = UnchangedCache()
        for _ in 0..<2 { _ = answers.note(unchanged: [0, 1], of: job, look, at: 100, ReuseRules(allowsStale: true)) }
        answers.tick(1_100)
        #expect(answers.unchanged(job, look, at: 1_100) != nil)
        answers.tick(1_101)
        #expect(answers.unchanged(job, look, at: 1_101) == nil)
    }

    @Test("Whatever was answered before, each job gets what a plan of its own would say")
    func sameAsPlan() {
        var state = PartitionState(
            PartitionID(0), rules: PartitionRules(reuse: ReuseRules(), retry: RetryPolicy()), seed: 1)
        let looks = [SourceSnapshot(variants: rows), SourceSnapshot(variants: [rows[0]]), SourceSnapshot()]
        let wants = [[Self.large, Self.small], [Self.large], [Self.small]]
        var chance = SplitMix64(state: 7)
        var (answered, asked) = (0, 0)
        for number in 0..<2_000 {
            let (look, wanted) = (looks.randomElement(using: &chance)!, wants.randomElement(using: &chance)!)
            let now = Int64.random(in: 0..<1_200, using: &chance)
            let source = SourceKey(SHA256.digest(of: Array("\(number % 5)".utf8)))
            let record = Record(
                topic: .jobsFast, partition: PartitionID(0), offset: Int64(number), timestamp: 0, key: [], value: [],
                headers: [])
            var effects: [PartitionEffect] = []
            state.reduce(
                .found(PendingJob(job: Self.job(wanted, of: source), record: record), look), at: now, into: &effects)
            let plan = Plan(wanted, snapshot: look, now: now, rules: ReuseRules())
            if case .work(.answer(_, .outcome(let outcome))) = effects.first {
                #expect(outcome.variants.compactMap(\.row) == plan.unchanged && plan.unchanged.count == wanted.count)
                answered += 1
            } else {
                #expect(plan.unchanged.count < wanted.count)
                asked += 1
            }
        }
        #expect(answered > 100 && asked > 100)
    }
}
