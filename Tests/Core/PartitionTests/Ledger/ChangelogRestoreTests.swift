import Canonical
internal import Clocks
import ImageModel
import Ledger
import Ports
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("Which index a recreated changelog is restored from", .timeLimit(.minutes(1)))
struct ChangelogRestoreTests {
    private typealias Verdict = ChangelogRestore.Verdict
    private static let partition = PartitionID(3)
    private static let (ours, theirs) = (
        StoreIdentity("11111111111111111111111111111111"), StoreIdentity("22222222222222222222222222222222")
    )

    /// `last`: when brokers appended the last row that was folded; nil: it names none.
    private static func index(
        _ path: String, to position: Int64, last: Int64?, at: Int64? = nil, epoch: Int64 = 7,
        store: StoreIdentity? = ours
    ) -> ChangelogRestore.Candidate {
        let fingerprints = last.map {
            ChangelogFingerprints([RecordFingerprint(offset: position - 1, timestamp: .init(milliseconds: $0))])
        }
        return .init(
            path: path,
            checkpoint: IndexCheckpoint(
                position: position, epoch: epoch, isOpened: true, at: .init(milliseconds: at ?? last ?? 0),
                fingerprints: fingerprints ?? ChangelogFingerprints()),
            store: store)
    }

    /// A changelog whose records at 0, 1, 2… were appended at these times; the last one is an owner's epoch row.
    private static func restore(
        _ candidates: [ChangelogRestore.Candidate], in times: [Int64], without gaps: Set<Int64> = [],
        isOpened: Bool = true
    ) -> [String] {
        var restore = ChangelogRestore(partition, from: candidates)
        for (offset, time) in times.enumerated() where !gaps.contains(Int64(offset)) {
            restore.read(
                Record(
                    topic: .variants, partition: partition, offset: Int64(offset), timestamp: .init(milliseconds: time),
                    key: isOpened && offset == times.count - 1 ? RecordKey.epoch(partition).bytes : [UInt8(offset)], value: nil,
                    headers: RecordHeaders()))
        }
        return restore.verdicts(end: Int64(times.count), store: ours).map { "\($0.candidate.path) \($0.verdict)" }
    }

    @Test("Of those of another changelog the one whose last row is newest")
    func newest() {
        // Two workers that owned the partition in turn.
        #expect(
            Self.restore([Self.index("a", to: 500, last: 100), Self.index("b", to: 900, last: 200)], in: [])
                == ["a older", "b newest"])
        // A worker left it that found the new changelog unopened.
        #expect(
            Self.restore(
                [Self.index("a", to: 500, last: 100), Self.index("b", to: 1, last: 200, epoch: 0)], in: [200],
                isOpened: false) == ["a newest", "b known"])
        // Epochs and positions began again when the topic was recreated before: the index from then is older all the same.
        #expect(
            Self.restore(
                [Self.index("a", to: 900, last: 100, epoch: 900), Self.index("b", to: 30, last: 200, epoch: 7)], in: [])
                == ["a older", "b newest"])
        // An index that lacks its last fingerprints, and one that a clock wrote that was ahead.
        #expect(
            Self.restore(
                [Self.index("a", to: 40, last: 100, at: 100), Self.index("b", to: 50, last: 20, at: 200)], in: [])
                == ["a older", "b newest"])
        #expect(
            Self.restore(
                [Self.index("a", to: 40, last: 100, at: 900), Self.index("b", to: 50, last: 200, at: 200)], in: [])
                == ["a older", "b newest"])
        #expect(Self.restore([], in: [1, 2]) == [])
        // Nobody has opened the changelog, so no index is of it, though none of its rows says so.
        #expect(Self.restore([Self.index("a", to: 0, last: nil)], in: []) == ["a newest"])
    }

    @Test(
        "One that folded this changelog is known, one of another store is refused, and of one nothing is known",
        arguments: [
            (index("i", to: 2, last: 20), [10, 20, 30], [], "known"),
            (index("i", to: 2, last: 15), [10, 20, 30], [], "newest"),
            // It was further.
            (index("i", to: 4, last: 20), [10, 20, 30], [], "newest"),
            // Its last row is gone by compaction: what comes before was there, or came afterwards.
            (index("i", to: 2, last: 20), [10, 20, 30], [1], "undecided"),
            (index("i", to: 2, last: 9), [10, 20, 30], [1], "newest"),
            (index("i", to: 2, last: nil), [10, 20, 30], [], "undecided"),
            (index("i", to: 9, last: 20, store: theirs), [10, 20, 30], [], "ofAnotherStore"),
            // From before rows were bound to a store.
            (index("i", to: 9, last: 20, store: nil), [10, 20, 30], [], "newest"),
        ] as [(ChangelogRestore.Candidate, [Int64], Set<Int64>, String)])
    func verdict(index: ChangelogRestore.Candidate, times: [Int64], gaps: Set<Int64>, verdict: String) {
        #expect(Self.restore([index], in: times, without: gaps) == ["i \(verdict)"])
    }

    @Test("Rows that the changelog has stay, also dropped ones; the epoch row comes last, and ends nobody's epoch")
    func rows() throws {
        let source = SourceKey.numbered(1)
        var restore = ChangelogRestore(Self.partition, from: [])
        let (kept, dropped) = (try VariantSpec("32x32.png"), try VariantSpec("64x64.png"))
        let drop = VariantRow.drop(dropped, of: source, partition: Self.partition)
        restore.read(
            Record(
                topic: .variants, partition: Self.partition, offset: 0, timestamp: 5, key: drop.key, value: nil,
                headers: drop.headers))
        #expect(!restore.isOpened && restore.has(source, dropped) && !restore.has(source, kept))
        let progress = ProgressRow(partition: Self.partition, topics: [:], isClean: false, crashes: 1, at: 4)
        let end = restore.end(progress, at: 9)
        #expect(end.map { RecordKey($0.key) } == [.progress(Self.partition), .epoch(Self.partition)])
        #expect(end.allSatisfy { $0.headers[EventHeader.epoch] == nil })
        #expect(restore.end(nil, at: 9).count == 1)
        for (offset, record) in end.enumerated() {
            let record = Record(
                topic: .variants, partition: Self.partition, offset: Int64(offset + 1), timestamp: 9, key: record.key,
                value: record.value, headers: record.headers)
            restore.read(record)
            switch try ChangelogEntry(record) {
            case .progress(let row): #expect(row.isClean == true && row.crashes == 1)
            case .epoch(let row): #expect(row.epoch == 1)
            default: Issue.record("another row")
            }
        }
        #expect(restore.isOpened && restore.end(progress, at: 9).isEmpty)
    }
}
