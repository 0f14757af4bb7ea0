import Quarantine
import Records
import TestSupport
import Testing

@Suite("Suspects: what owners may have died of", .timeLimit(.minutes(1)))
struct QuarantinedJobsTests {
    private static let place = RecordPlace(.jobsFast, 7)
    private static let other = RecordPlace(.jobsSlow, 7)

    private static func row(
        isClean: Bool?, crashes: Int = 0, _ quarantined: ProgressRow.QuarantinedJob...
    ) -> ProgressRow {
        ProgressRow(
            partition: PartitionID(3), topics: [:], isClean: isClean, crashes: crashes, quarantined: quarantined, at: 1)
    }

    private static func quarantinedJob(_ crashes: Int, _ begun: ProgressRow.QuarantinedJob.Begun? = nil) -> ProgressRow.QuarantinedJob {
        ProgressRow.QuarantinedJob(.jobsFast, 7, crashes: crashes, begun: begun)
    }

    private struct Case: CustomTestStringConvertible {
        let name: String
        let row: ProgressRow?
        var isOwn = false
        let isNaming, runsAlone, isCondemned: Bool
        var testDescription: String { name }
    }

    @Test(
        "What the last owner left decides how its records are run",
        arguments: [
            Case(name: "nothing was there", row: nil, isNaming: false, runsAlone: false, isCondemned: false),
            Case(
                name: "a program that names nothing", row: row(isClean: nil, quarantinedJob(2, .alone)), isNaming: false,
                runsAlone: false, isCondemned: false),
            Case(name: "a good end", row: row(isClean: true), isNaming: false, runsAlone: false, isCondemned: false),
            Case(
                name: "a death before which nothing was named", row: row(isClean: false), isNaming: true,
                runsAlone: false, isCondemned: false),
            Case(
                name: "a second death in a row", row: row(isClean: false, crashes: 1, quarantinedJob(0, .beside)),
                isNaming: true, runsAlone: true, isCondemned: false),
            Case(
                name: "a first one that found it named", row: row(isClean: false, quarantinedJob(0, .beside)),
                isNaming: true, runsAlone: false, isCondemned: false),
            Case(
                name: "a death beside others, however many there were",
                row: row(isClean: false, crashes: 9, quarantinedJob(2, .beside)), isNaming: true, runsAlone: true,
                isCondemned: false),
            Case(
                name: "a death while another record was under way", row: row(isClean: false, crashes: 2, quarantinedJob(2)),
                isNaming: true, runsAlone: true, isCondemned: false),
            Case(
                name: "a death alone", row: row(isClean: false, crashes: 2, quarantinedJob(2, .alone)), isNaming: true,
                runsAlone: true, isCondemned: true),
            Case(
                name: "a good end while it ran alone", row: row(isClean: true, crashes: 2, quarantinedJob(2, .alone)),
                isNaming: true, runsAlone: true, isCondemned: false),
            Case(
                name: "a good end between deaths", row: row(isClean: true, crashes: 1), isNaming: true,
                runsAlone: false, isCondemned: false),
            Case(
                name: "a partition that was lost, and comes back to the same worker",
                row: row(isClean: false, crashes: 2, quarantinedJob(2, .alone)), isOwn: true, isNaming: true, runsAlone: true,
                isCondemned: false),
            Case(
                name: "a condemned record that nobody has answered yet", row: row(isClean: false, quarantinedJob(3)),
                isNaming: true, runsAlone: true, isCondemned: true),
        ])
    private func begin(_ given: Case) {
        let quarantined = QuarantinedJobs(after: given.row, isOwn: given.isOwn)
        #expect(quarantined.isNaming == given.isNaming)
        #expect(quarantined.runsAlone(Self.place) == given.runsAlone)
        #expect(quarantined.isCondemned(Self.place) == given.isCondemned)
        #expect(!quarantined.runsAlone(Self.other))
    }

    /// An owner that begins some records and dies; its row is what the next one finds.
    private func die(_ quarantined: QuarantinedJobs, at places: Set<RecordPlace>, isAlone: Bool = false) -> QuarantinedJobs {
        let row = ProgressRow(
            partition: PartitionID(3), topics: [:], isClean: false, crashes: quarantined.crashes,
            quarantined: quarantined.isNaming ? quarantined.rows(naming: places, isAlone: isAlone) : [], at: 1)
        return QuarantinedJobs(after: row)
    }

    @Test("A record that kills each owner is condemned after three deaths; those beside it run alone, and no more")
    func poisonJob() {
        let all = Set((1...5).map { RecordPlace(.jobsFast, $0) })
        let poisonJob = RecordPlace(.jobsFast, 3)
        var quarantined = die(QuarantinedJobs(), at: all)
        #expect(quarantined.isNaming && all.allSatisfy { !quarantined.runsAlone($0) })
        quarantined = die(quarantined, at: all)
        #expect(all.allSatisfy { quarantined.runsAlone($0) && !quarantined.isCondemned($0) })
        // Two of them have run alone before its turn comes.
        for offset in 1...2 { quarantined.clear(RecordPlace(.jobsFast, Int64(offset))) }
        quarantined = die(quarantined, at: [poisonJob], isAlone: true)
        #expect(all.filter { quarantined.isCondemned($0) } == [poisonJob])
        #expect(all.filter { quarantined.runsAlone($0) }.map(\.offset).sorted() == [3, 4, 5])
    }

    @Test("Owners that are killed again and again condemn nothing that ran beside others")
    func killed() {
        var quarantined = QuarantinedJobs()
        for _ in 1...50 { quarantined = die(quarantined, at: [Self.place, Self.other]) }
        #expect(!quarantined.isCondemned(Self.place) && !quarantined.isCondemned(Self.other))
        #expect(quarantined.patience(for: [Self.place]) == 20_000)
    }

    @Test("Nothing is named any more once an owner has lived long enough and no suspect is left")
    func ends() {
        var quarantined = die(die(QuarantinedJobs(), at: [Self.place]), at: [Self.place])
        quarantined.outlive()
        #expect(quarantined.isNaming && quarantined.patience(for: [Self.place]) == 5_000)
        quarantined.clear(Self.place)
        #expect(!quarantined.isNaming)
    }

    @Test("Offsets of a log that was replaced, and those below what is finished, are nobody's")
    func forgets() {
        let begun = die(die(QuarantinedJobs(), at: [Self.place, Self.other]), at: [Self.place, Self.other])
        var quarantined = begun
        quarantined.forget(.jobsFast)
        #expect(!quarantined.runsAlone(Self.place) && quarantined.runsAlone(Self.other))
        quarantined = begun
        quarantined.forget(.jobsFast, below: 7)
        #expect(quarantined == begun)
        quarantined.forget(.jobsFast, below: 8)
        #expect(!quarantined.runsAlone(Self.place) && quarantined.runsAlone(Self.other))
    }

    @Test("Records of a log that may be another run alone, and are condemned once an owner dies of them again")
    func doubts() {
        let alone = die(die(QuarantinedJobs(), at: [Self.place]), at: [Self.place])
        var quarantined = die(alone, at: [Self.place], isAlone: true)
        quarantined.doubt(.jobsSlow)
        #expect(quarantined.isCondemned(Self.place))
        quarantined.doubt(.jobsFast)
        #expect(quarantined.runsAlone(Self.place) && !quarantined.isCondemned(Self.place))
        #expect(die(quarantined, at: [Self.place], isAlone: true).isCondemned(Self.place))
    }

    @Test("A row has room for the most suspect")
    func bounded() {
        let quarantined = die(die(QuarantinedJobs(), at: [Self.other]), at: [Self.other])
        let many = Set((0..<1_000).map { RecordPlace(.jobsFast, $0) })
        let rows = quarantined.rows(naming: many, isAlone: false)
        #expect(rows.count == 128)
        #expect(rows.first == ProgressRow.QuarantinedJob(.jobsSlow, 7, crashes: 2))
        #expect(rows[1] == ProgressRow.QuarantinedJob(.jobsFast, 0, crashes: 0, begun: .beside))
    }
}
