import Clocks
internal import Canonical
import Failures
import ImageModel
internal import Ledger
import Ports
import Records
import Telemetry
import TestSupport
import Testing

@testable import WorkerRuntime

/// Duties decide by values: what they ask for is compared, and nobody performs it.
struct DutyTests {
    private static func view(_ milliseconds: Int64, ahead: Duration = .zero, restoring: Int = 0) -> WorkerView {
        let now = Moment(wall: WallTime(milliseconds: milliseconds), monotonic: Instant(milliseconds: milliseconds))
        return WorkerView(now: now, wall: now.wall + ahead, restoring: restoring, isRunning: true)
    }

    @Test("Hosts are told of once a second, and at once where a partition came")
    func hosts() {
        func asks(_ effects: [DutyEffect]) -> Bool { effects.contains { if case .shareHosts = $0 { true } else { false } } }
        var off = HostBoard(isOn: false)
        #expect(!asks(off.tick(Self.view(10_000))) && off.isReady(at: Self.view(0).now.monotonic))
        var board = HostBoard(isOn: true)
        #expect(asks(board.tick(Self.view(10_000))))
        // Never twice at the same time.
        #expect(!asks(board.tick(Self.view(12_000))))
        board.shared()
        #expect(asks(board.tick(Self.view(12_050))))
        board.shared()
        #expect(!asks(board.tick(Self.view(12_500))))
        board.assigned(at: Self.view(12_500).now.monotonic)
        #expect(asks(board.tick(Self.view(12_550))))
        // Rows that cannot be read are waited for ten seconds.
        #expect(!board.isReady(at: Self.view(22_499).now.monotonic) && board.isReady(at: Self.view(22_500).now.monotonic))
    }

    @Test("A host's row is told where it changed, and every ten seconds while jobs wait there")
    func rows() throws {
        var board = HostBoard(isOn: true)
        let host = OriginHost(group: "https://a.example")
        func told(_ milliseconds: Int64, waiting: Int = 0, limit: Int = 4) -> Int {
            let view = Self.view(milliseconds)
            var row = OriginRow(host: host.description, by: "w", at: view.now.wall)
            (row.limit, row.waiting[.fast]) = (limit, waiting)
            let rows = board.rowsToTell([host: (row, 0)], at: view.now.monotonic)
            for row in rows { board.tell(row, at: view.now.monotonic) }
            return rows.count
        }
        #expect(told(100_000) == 1)
        #expect(told(101_000) == 0 && told(300_000) == 0)
        #expect(told(301_000, limit: 5) == 1 && told(302_000, waiting: 3, limit: 5) == 1)
        #expect(told(311_000, waiting: 3, limit: 5) == 0 && told(312_000, waiting: 3, limit: 5) == 1)
    }

    private static func logged(_ effects: [DutyEffect]) -> [Logger.Level] {
        effects.compactMap { if case .log(let level, _, _) = $0 { level } else { nil } }
    }

    @Test("A clock that jumped is told once, and again after it came back")
    func jump() {
        var clock = ClockDuty()
        let ahead: [Duration] = [.zero, .seconds(60), .seconds(61), .zero, .seconds(5)]
        let levels = ahead.enumerated().map { Self.logged(clock.tick(Self.view(Int64($0) * 50, ahead: $1))) }
        #expect(levels == [[], [.warning], [], [], [.warning]])
    }

    @Test("A clock that differs from the brokers' by ten seconds is told once, and once that it agrees again")
    func skew() {
        var clock = ClockDuty()
        let now = Self.view(100_000).now
        #expect(clock.skew(at: now) == nil && Self.logged(clock.tick(Self.view(100_000))) == [])
        // The brokers' clock is an hour behind.
        clock.note(written: now.wall - .milliseconds(20), appended: now.wall - .hours(1), at: now)
        #expect(Self.logged(clock.tick(Self.view(100_050))) == [.warning])
        #expect(Self.logged(clock.tick(Self.view(100_100))) == [])
        clock.note(written: now.wall - .milliseconds(20), appended: now.wall - .milliseconds(10), at: now)
        #expect(Self.logged(clock.tick(Self.view(100_150))) == [.notice])
    }

    @Test("A store that is away is asked for once a second, and its return resumes jobs")
    func store() {
        var store = StoreDuty()
        func asks(_ milliseconds: Int64) -> Bool {
            store.tick(Self.view(milliseconds)).contains { if case .askStore = $0 { true } else { false } }
        }
        let away = StoreFailure.obstructed(StorePlace("/store"), reason: "away")
        #expect(!asks(0))
        store.missed(away)
        #expect([asks(5_000), asks(5_050), asks(5_950), asks(6_000)] == [true, false, false, true])
        let other = StoreFailure.full(StorePlace("/store"))
        store.missed(other)
        #expect(store.absence?.code == away.code, "the first reason stands until the store is asked")
        let notes = store.heard(other).compactMap { if case .note(let failure, _) = $0 { failure.code } else { nil } }
        #expect(notes == [away.code] && store.absence?.code == other.code)
        let resumes = store.heard(nil).contains { if case .resumeJobs = $0 { true } else { false } }
        #expect(resumes && store.absence == nil && !asks(60_000))
    }

    @Test("The first stopped partition is reported every ten seconds, with the numbers of all, until it goes")
    func stopped() {
        var stopped = StoppedPartitions()
        func notes(_ effects: [DutyEffect]) -> [String] {
            effects.compactMap { effect -> String? in
                guard case .note(let failure, let fields) = effect else { return nil }
                let stopped = fields.first { $0.key == "partitions" }?.value
                return "\(failure)".contains("partition 3") ? "3 of \(stopped as Any)" : "4"
            }
        }
        #expect(stopped.tick(Self.view(50_000)).isEmpty && stopped.failure == nil)
        for number: Int32 in [4, 3] {
            let failure = LogFailure.recreated(topic: .variants, partition: PartitionID(number), .unopened)
            stopped.add(PartitionID(number), failure, at: Self.view(60_000).now.monotonic)
        }
        #expect(stopped.ids.map(\.number) == [3, 4] && "\(stopped.failure as Any)".contains("3"))
        #expect(notes(stopped.tick(Self.view(69_950))).isEmpty)
        let repeated = notes(stopped.tick(Self.view(70_000)))
        #expect(repeated.count == 1 && repeated[0].contains("3, 4"), "\(repeated)")
        for partition in stopped.ids { stopped.remove(partition) }
        #expect(notes(stopped.tick(Self.view(90_000))).isEmpty)
    }

    private enum End: Equatable { case goesOn, done, hidden, unread }

    private static func end(_ ending: IdleWatch.Ending?) -> End {
        switch ending {
        case nil: .goesOn
        case .done: .done
        case .without(.hidden): .hidden
        case .without: .unread
        }
    }

    @Test("A run until idle ends once it was quiet for long enough, and the log says the same")
    func idle() throws {
        let place = LogPoint(.jobs(.fast), PartitionID(0), 7)
        let grown = GrownTopic(.jobs(.fast), partitions: 2, used: 1, unread: 3)
        var idle = IdleWatch()
        func heard(_ rest: Worker.Rest, isQuiet: Bool = true, after quiet: Instant, isOther: Bool = false) -> End {
            guard let asked = idle.quiet(atLeast: .milliseconds(100), at: quiet) else { return .goesOn }
            if isOther { idle.interrupt() }
            return Self.end(idle.heard(rest, asked: asked, isQuiet: isQuiet, at: quiet) { _ in nil })
        }
        #expect(idle.quiet(atLeast: .milliseconds(100), at: 0) == nil)
        #expect(heard(.nothing, after: 50) == .goesOn, "not quiet for long enough")
        #expect(heard(.nothing, isQuiet: false, after: 100) == .goesOn, "work came meanwhile")
        #expect(heard(.nothing, after: 200) == .goesOn, "quiet anew")
        #expect(heard(.nothing, after: 300, isOther: true) == .goesOn, "a partition came meanwhile")
        _ = idle.quiet(atLeast: .milliseconds(100), at: 400)
        #expect(heard(.records, after: 500) == .goesOn)
        _ = idle.quiet(atLeast: .milliseconds(100), at: 600)
        #expect(heard(.hidden(place, 21), after: 1_000) == .goesOn, "the transaction may end")
        _ = idle.quiet(atLeast: .milliseconds(100), at: 60_500)
        #expect(heard(.hidden(place, 21), after: 60_999) == .goesOn)
        _ = idle.quiet(atLeast: .milliseconds(100), at: 60_999)
        #expect(heard(.hidden(LogPoint(.jobs(.fast), PartitionID(1), 3), 1), after: 61_099) == .goesOn, "another record")
        _ = idle.quiet(atLeast: .milliseconds(100), at: 61_100)
        #expect(heard(.hidden(place, 21), after: 61_200) == .goesOn, "and back: its time begins anew")
        _ = idle.quiet(atLeast: .milliseconds(100), at: 121_000)
        #expect(heard(.hidden(place, 21), after: 121_200) == .hidden)
        _ = idle.quiet(atLeast: .milliseconds(100), at: 122_000)
        #expect(heard(.unread([grown]), after: 122_100) == .unread)
        #expect(heard(.nothing, after: 122_200) == .done)
    }

    @Test("All duties are ticked; a standstill is told with each tick, and logged once")
    func all() {
        var duties = Duties(hosts: HostBoard(isOn: true), standstill: StandstillWatch(limit: 100))
        duties.restore.begin(1_000, at: 0)
        duties.restore.add(10)
        duties.store.missed(.full(StorePlace("/store")))
        duties.standstill.begin(.fetch, of: FlightID(PartitionID(0), 1))
        var told: [[String]] = []
        for time: Int64 in [0, 50, 100, 150, 5_000] {
            told.append(
                duties.tick(Self.view(time, ahead: .seconds(60))).map { effect in
                    switch effect {
                    case .log(let level, _, _): "\(level)"
                    case .note: "note"
                    case .tell(let standstill): standstill == nil ? "moves" : "stands"
                    case .askStore: "store"
                    case .resumeJobs: "jobs"
                    case .shareHosts: "hosts"
                    }
                })
        }
        #expect(
            told == [
                ["hosts", "store", "moves", "warning"], ["moves"], ["moves"], ["critical", "stands"],
                ["info", "store", "stands"],
            ])
    }
}
