import Canonical
import Clocks
import Digest
import ImageModel
import Jobs
import Partition
import Ports
import Records
import TestSupport
import Testing
import VariantSpec

@testable import WorkerRuntime

@Suite("Looks at what is stored, shared by jobs that came in a burst")
struct SnapshotCacheTests {
    private static let source = SourceKey(SHA256.digest(of: Array("a source".utf8)))
    private static let large = VariantSpec(width: 1280, height: 1280, format: .webp)
    private static let small = VariantSpec(width: 160, height: 160, format: .webp)

    /// One partition's looks at an index that holds both variants, and what they cost.
    private struct Desk {
        var cache = SnapshotCache()
        var gone: Set<VariantSpec> = []
        private(set) var reads = 0
        private(set) var asked: [String] = []

        /// The variants found for a job whose record was appended at `appended`.
        mutating func look(
            _ wanted: [VariantSpec] = [large, small], appended: WallTime, at now: WallTime, wall: WallTime? = nil
        ) throws(IndexFailure) -> [VariantSpec] {
            let record = Record(
                topic: .jobsFast, partition: PartitionID(0), offset: 0, timestamp: appended, key: [], value: [],
                headers: [])
            let job = Job(id: "1", url: "http://o/a", source: source, variants: wanted, lane: .fast)
            var (reads, asked) = (reads, asked)
            defer { (self.reads, self.asked) = (reads, asked) }
            let gone = Set(gone.map(\.description))
            return try cache.snapshot(
                for: PendingJob(job: job, record: record), at: moment(now, wall: wall),
                isGone: { location, _ in
                    asked.append(location)
                    return gone.contains(location)
                },
                read: { () throws(IndexFailure) in
                    reads += 1
                    return SourceSnapshot(variants: [large, small].map(Self.row))
                }
            ).variants.map(\.spec)
        }

        /// A look at another source.
        mutating func other(_ number: Int, at now: WallTime) {
            let record = Record(
                topic: .jobsFast, partition: PartitionID(0), offset: 0, timestamp: 0, key: [], value: [], headers: [])
            let key = SourceKey(SHA256.digest(of: Array("another \(number)".utf8)))
            let job = Job(id: "1", url: "http://o/b", source: key, variants: [large], lane: .fast)
            _ = try? cache.snapshot(
                for: PendingJob(job: job, record: record), at: moment(now),
                isGone: { _, _ in false },
                read: { SourceSnapshot() })
        }

        private static func row(_ spec: VariantSpec) -> VariantRow {
            let size = PixelSize(width: 2_000, height: 1_000)
            let placement = spec.placement(of: size)
            return VariantRow(
                source: source, spec: spec, version: SourceVersion(word: 1), size: placement.output, bytes: 1,
                digest: SHA256.digest(of: []), location: "\(spec)", derivedFrom: .origin, sourceSize: size,
                region: placement.region, hasAlpha: false, storedAt: 0, expires: 1_000)
        }
    }

    @Test("Jobs that were appended before a look share it")
    func burst() throws {
        var desk = Desk()
        for number in 0..<100 {
            #expect(
                try desk.look(appended: .epoch + .milliseconds(number), at: 1_000 + .milliseconds(number)).count == 2)
        }
        #expect(desk.reads == 1)
        #expect(desk.asked.count == 2)
    }

    @Test(
        "A job looks anew when it came with the look or after it, and when the look is old",
        arguments: [(appended: WallTime(1_000), at: WallTime(1_001)), (1_500, 1_600), (500, 2_000)])
    func tooLate(_ job: (appended: WallTime, at: WallTime)) throws {
        var desk = Desk()
        _ = try desk.look(appended: 0, at: 1_000)
        desk.gone = [Self.small]
        #expect(try desk.look(appended: job.appended, at: job.at) == [Self.large])
        #expect(desk.reads == 2)
    }

    @Test("A clock that is set back keeps no look for longer, nor does one that is set forward end one")
    func clock() throws {
        var desk = Desk()
        _ = try desk.look(appended: 0, at: 1_000, wall: 7_200_000)
        desk.gone = [Self.small]
        #expect(try desk.look(appended: 500, at: 1_500, wall: 3_600_000).count == 2 && desk.reads == 1)
        #expect(try desk.look(appended: 500, at: 2_000, wall: 3_601_000) == [Self.large])
        _ = try desk.look(appended: 600, at: 2_400, wall: 9_000_000)
        #expect(desk.reads == 2)
    }

    @Test("Only what was not asked for yet is looked at again; what is gone stays out")
    func otherVariants() throws {
        var desk = Desk()
        desk.gone = [Self.small]
        // A row that nobody wants may be a donor, whose blob is looked at when it is opened.
        #expect(try desk.look([Self.large], appended: 0, at: 1_000) == [Self.large, Self.small])
        #expect(try desk.look([Self.small], appended: 1, at: 1_001) == [Self.large])
        #expect(try desk.look(appended: 2, at: 1_002) == [Self.large])
        #expect(desk.reads == 1)
        #expect(desk.asked == [Self.large, Self.small].map(\.description))
    }

    @Test("Rows that change end the looks at their source")
    func folded() throws {
        var desk = Desk()
        _ = try desk.look(appended: 0, at: 1_000)
        desk.cache.forget(Self.source)
        _ = try desk.look(appended: 1, at: 1_001)
        #expect(desk.reads == 2)
    }

    /// A slice of one record, and the looks that were made ahead of its job.
    private static func slice(appended: WallTime, lookedAt now: WallTime) -> ([Record], [SourceKey: SnapshotCache.Look])
    {
        let record = Record(
            topic: .jobsFast, partition: PartitionID(0), offset: 0, timestamp: appended,
            key: RecordKey.job(source).bytes, value: [], headers: [])
        let look = SnapshotCache.Look(
            snapshot: SourceSnapshot(), asked: [large, small], at: moment(now))
        return ([record], [source: look])
    }

    @Test("What was looked at ahead of a slice serves its jobs, whatever clock dated them, and no later ones")
    func ahead() throws {
        var desk = Desk()
        let (records, looks) = Self.slice(appended: 9_000, lookedAt: 1_000)
        #expect(desk.cache.beginAhead(.jobsFast, records, at: Moment(wall: 1_000, monotonic: 1_000)) == [Self.source])
        desk.cache.useAhead(.jobsFast, looks)
        #expect(try desk.look(appended: 9_000, at: 1_001).isEmpty && desk.reads == 0)
        #expect(try desk.look(appended: 9_000, at: 2_000).count == 2 && desk.reads == 1)
        desk.cache.endAhead()
        #expect(try desk.look(appended: 9_000, at: 2_000).count == 2 && desk.reads == 2)
    }

    @Test("What comes again in a slice is kept for later ones, and not looked at ahead of them")
    func keptAhead() throws {
        var desk = Desk()
        let (records, looks) = Self.slice(appended: 0, lookedAt: 1_000)
        _ = desk.cache.beginAhead(.jobsFast, records, at: Moment(wall: 1_000, monotonic: 1_000))
        desk.cache.useAhead(.jobsFast, looks)
        for _ in 0..<2 { _ = try desk.look(appended: 0, at: 1_001) }
        desk.cache.endAhead()
        #expect(try desk.look(appended: 1, at: 1_002).isEmpty && desk.reads == 0)
        #expect(desk.cache.beginAhead(.jobsFast, records, at: Moment(wall: 1_003, monotonic: 1_003)).isEmpty)
    }

    @Test("Rows that change while looks are made ahead end them, and so does an index that is made anew")
    func changedAhead() throws {
        let (records, looks) = Self.slice(appended: 0, lookedAt: 1_000)
        for isAnew in [false, true] {
            var desk = Desk()
            _ = desk.cache.beginAhead(.jobsFast, records, at: Moment(wall: 1_000, monotonic: 1_000))
            if isAnew { desk.cache = SnapshotCache() } else { desk.cache.forget(Self.source) }
            desk.cache.useAhead(.jobsFast, looks)
            #expect(try desk.look(appended: 0, at: 1_001).count == 2 && desk.reads == 1)
        }
    }

    @Test("What is asked for again outlives hundreds of others, and goes when the burst is over")
    func generations() throws {
        var desk = Desk()
        for number in 0..<500 {
            _ = try desk.look(appended: 0, at: 1_000)
            desk.other(number, at: 1_000)
        }
        #expect(desk.reads <= 3)
        desk.cache.tick(2_001)
        _ = try desk.look(appended: 0, at: 1_999)
        #expect(desk.reads >= 2)
    }
}

/// Both clocks show `now`, or the wall's another time.
private func moment(_ now: WallTime, wall: WallTime? = nil) -> Moment {
    Moment(wall: wall ?? now, monotonic: Instant(milliseconds: now.milliseconds))
}
