import Clocks
import ImageModel
import Records
import TestSupport
import Testing

@Suite("What the rows of hosts say together", .timeLimit(.minutes(1)))
struct OriginRowTests {
    private static let now: WallTime = 1_800_000_000_000

    private func row(
        _ by: String, _ state: OriginRow.State, age: Duration = 1_000, until: Duration? = nil, waiting: Int = 0
    ) -> OriginRow {
        var row = OriginRow(host: "https://a.example", by: by, at: Self.now - age)
        (row.state, row.code, row.limit, row.inFlight, row.waiting[.slow]) = (state, "x", 3, 1, waiting)
        row.since = Self.now - 5_000
        row.until = until.map { Self.now + $0 }
        return row
    }

    private func read(_ new: NewRecord) -> OriginRow? {
        OriginRow(
            Record(
                topic: new.topic, partition: new.partition, offset: 0, timestamp: 0, key: new.key, value: new.value,
                headers: new.headers))
    }

    @Test("A row is read as it was written, and what is none is passed over")
    func record() {
        for state in OriginRow.State.allCases {
            var row = row("one", state, until: 9)
            (row.checks, row.matches, row.staleOutcomes) = (4, 3, 2)
            (row.partition, row.waitingSince) = (PartitionID(5), Self.now - 9)
            (row.throttledBy, row.perMinute) = (.rate, 600)
            row.waiting = ByLane { 7 + $0.ordinal }
            #expect(read(row.newRecord()) == row)
        }
        let slot = OriginRow(host: "https://a.example", slot: 3, at: PartitionID(7), at: Self.now)
        #expect(read(slot.newRecord()) == slot)
        var other = row("one", .open).newRecord()
        other.value = Array("{\"host\":1}".utf8)
        #expect(read(other) == nil)
        // Versions before 0.2.0 had slots for slow jobs.
        other = row("one", .open).newRecord()
        other.value = other.value.map {
            Array($0.dropLast()) + Array(#","slowInUse":1,"slowPartition":6,"slowSince":1000}"#.utf8)
        }
        #expect(read(other) == row("one", .open))
    }

    @Test(
        "A block lasts as long as its writer says, though clocks are an hour apart, and a day at most",
        arguments: [
            // When it was written, until when, both after the reader's time; for how long: heard at once, found there before.
            (0, 30, 30, 30), (-10, 20, 30, 20), (-60, -30, 30, nil), (3_600, 3_630, 30, 30), (-3_600, -3_570, 30, nil),
            (0, 0, nil, nil), (0, -5, nil, nil), (0, 200_000, 86_400, 86_400), (-90_000, 1, 86_400, 1),
        ] as [(Int64, Int64, Int64?, Int64?)])
    func blocks(at: Int64, until: Int64, heard: Int64?, found: Int64?) {
        var row = OriginRow(host: "https://a.example", by: "one", at: Self.now + .seconds(at))
        (row.state, row.until) = (.blocked, Self.now + .seconds(until))
        #expect(row.block(isOld: false, at: Self.now) == heard.map { .seconds($0) })
        #expect(row.block(isOld: true, at: Self.now) == found.map { .seconds($0) })
        row.state = .probing
        #expect(row.block(isOld: false, at: Self.now) == nil)
    }

    @Test("Hosts that hold back jobs are told by owner, those first for which most wait")
    func held() {
        func row(_ by: String, _ host: String, _ throttledBy: HostHold?, _ waiting: Int, age: Duration = 0) -> OriginRow {
            var row = OriginRow(host: host, by: by, at: Self.now - age)
            (row.throttledBy, row.waiting[.fast]) = (throttledBy, waiting)
            return row
        }
        let rows = [
            row("two", "a", .rate, 2, age: 1), row("three", "b", .limit, 8, age: 1), row("three", "d", .limit, 0),
            row("one", "a", .limit, 1), row("one", "b", .breaker, 7), row("one", "c", nil, 9),
        ]
        func held(_ owners: Set<String>) -> [String: [OriginRow]] {
            OriginReport(of: rows, owners: owners, at: Self.now).held
        }
        let two = held(["one@10.0.0.1", "two@10.0.0.2"]).mapValues { $0.map(\.host) }
        #expect(two == ["one@10.0.0.1": ["b", "a"], "two@10.0.0.2": ["a"]])
        let lone = held(["pid 7"]).mapValues { $0.map { "\($0.host) \($0.waiting[.fast])" } }
        #expect(lone == ["pid 7": ["b 7", "a 1"]] && held([]).isEmpty)
    }

    @Test("The match rate is that of all workers, and null where nothing that was known was fetched")
    func matches() throws {
        var (one, two) = (row("one", .open), row("two", .open, age: 600_000))
        func summary(_ rows: [OriginRow]) throws -> OriginSummary {
            try #require(OriginSummary.all(of: rows, at: Self.now).first)
        }
        #expect(try summary([one, two]).matchRate == nil)
        (one.checks, one.matches, one.staleOutcomes) = (3, 3, 1)
        (two.checks, two.staleOutcomes) = (1, 4)
        #expect(try summary([one, two]).matchRate == 0.75)
        #expect(try summary([one, two]).staleOutcomes == 5)
    }

    @Test(
        "Of a block by hand and a worker's own the longer one is told; a worker that repeats the former says nothing new"
    )
    func longest() throws {
        func told(_ own: Duration, _ code: String) throws -> OriginSummary {
            var (operators, workers) = (row("operator", .blocked, until: 20_000), row("one", .blocked, until: own))
            (operators.code, workers.code) = ("operator", code)
            return try #require(OriginSummary.all(of: [workers, operators], at: Self.now).first)
        }
        let (byHand, byHost) = (try told(10_000, "fetch.connection"), try told(90_000, "fetch.too-many-requests"))
        #expect(byHand.code == "operator" && byHost.code == "fetch.too-many-requests")
        #expect(try #require(byHost.until) - #require(byHand.until) == 70_000)
        #expect(try told(20_500, "operator").until == byHand.until)
        let workers = ([("one", 20_000), ("two", 60_000)] as [(String, Duration)]).map { row($0, .blocked, until: $1) }
        for rows in [workers, workers.reversed()] {
            #expect(try #require(OriginSummary.all(of: rows, at: Self.now).first?.until) - Self.now == 60_000)
        }
    }

    @Test("What a worker that is gone told waits for nobody any more, and nobody then knows what does")
    func gone() throws {
        func summary(_ rows: [OriginRow]) throws -> OriginSummary {
            try #require(OriginSummary.all(of: rows, at: Self.now).first)
        }
        var gone = row("one", .blocked, age: 60_000, until: 9, waiting: 73)
        gone.throttledBy = .breaker
        let both = try summary([gone, row("two", .blocked, until: 9, waiting: 38)])
        #expect(both.isReported && both.waiting[.slow] == 38 && both.limit == 3 && both.throttledBy == nil)
        let alone = try summary([gone, row("operator", .blocked, until: 9)])
        #expect(!alone.isReported && alone.waiting == .none && alone.state == .blocked)
    }

    @Test(
        "A worker that lives has its limit though its host is idle; one that ended has none, though it told of it just now"
    )
    func living() throws {
        func limit(_ rows: [OriginRow], _ owners: Set<String>?) throws -> Int {
            try #require(OriginSummary.all(of: rows, owners: owners, at: Self.now).first).limit
        }
        let rows = [row("one", .open, age: 600_000), row("two", .open), row("operator", .open, age: 0)]
        let limits = [
            try limit(rows, ["one@10.0.0.1"]), try limit(rows, ["one@10.0.0.1", "three@10.0.0.1"]),
            try limit(rows, ["one@10.0.0.1", "two@10.0.0.1"]),
            // The one of an embedded log tells newest.
            try limit(rows, ["pid 7"]), try limit(rows, []), try limit(rows, nil),
            try limit([row("one", .open, age: 600_000)], ["pid 7"]),
        ]
        #expect(limits == [3, 3, 6, 3, 0, 3, 3])
    }

    @Test(
        "A reader whose clock is hours apart sees what workers that live told last",
        arguments: [-3_600_000, 0, 3_600_000] as [Duration])
    func readersClock(ahead: Duration) throws {
        let rows = [
            row("one", .blocked, until: 9_000, waiting: 7), row("two", .blocked, until: 9_000),
        ]
        var asked = rows[0]
        (asked.host, asked.state, asked.perMinute) = ("https://b.example", .slowed, 90)
        let all = OriginSummary.all(of: rows + [asked], owners: ["one@10.0.0.1"], at: Self.now + ahead)
        let (first, second) = (try #require(all.first), try #require(all.last))
        #expect(first.state == .blocked && first.waiting[.slow] == 7 && first.inFlight == 1 && first.perMinute == 0)
        #expect(second.state == .slowed && second.inFlight == 1 && second.limit == 3 && second.perMinute == 90)
    }

    @Test("A row that was told by a clock ahead hides nothing that its worker has told since")
    func clockSetBack() throws {
        var ahead = row("one", .slowed, age: -3_600_000)
        ahead.host = "https://0.example"
        let rows = [ahead, row("one", .blocked, until: 9_000, waiting: 7)]
        for owners: Set<String> in [["one@10.0.0.1"], ["pid 7"]] {
            let told = try #require(OriginSummary.all(of: rows, owners: owners, at: Self.now).last)
            #expect(told.host == rows[1].host && told.state == .blocked && told.waiting[.slow] == 7)
        }
    }

    @Test(
        "What counts for a moment only is told again: all that is not an open host of which nothing is asked or wanted")
    func live() {
        let idle = OriginRow(host: "https://a.example", by: "one", at: Self.now)
        let changes: [(Bool, (inout OriginRow) -> Void)] = [
            (false, { _ in }), (false, { ($0.limit, $0.checks, $0.matches, $0.staleOutcomes) = (6, 5, 4, 3) }),
            (true, { $0.state = .slowed }), (true, { $0.inFlight = 1 }), (true, { $0.perMinute = 1 }),
            (true, { $0.waiting[.fast] = 1 }), (true, { $0.waiting[.slow] = 1 }),
            (true, { $0.partition = PartitionID(0) }),
        ]
        for (isLive, change) in changes {
            var row = idle
            change(&row)
            #expect(row.isLive == isLive, "\(row)")
        }
    }

    @Test(
        "A worker's row is forgotten an hour after it was told, or its block is over; a slot's or an operator's is not")
    func forgotten() throws {
        let hour = Duration.hours(1)
        let old = row("one", .open, age: hour + 1)
        let slot = OriginRow(host: old.host, slot: 3, at: PartitionID(7), at: old.at)
        let cases: [(OriginRow, Bool)] = [
            (old, true), (row("one", .open, age: hour - 1), false), (slot, false),
            (row("one", .blocked, age: hour * 2, until: hour), false),
            (row("one", .blocked, age: hour * 2, until: -1), true),
            (row("one", .slowed, age: hour * 2), true), (row("operator", .blocked, age: hour * 9, until: -1), false),
            (row("one", .blocked, age: .days(-400), until: .days(401)), true),
            (row("one", .open, age: .hours(-1)), false),
        ]
        for (row, isForgettable) in cases { #expect(row.isForgettable(at: Self.now) == isForgettable, "\(row)") }
        let tombstone = OriginRow.tombstone(of: old.newRecord().key)
        #expect(
            tombstone.key == old.newRecord().key && tombstone.partition == OriginRow.partition && tombstone.value == nil
        )
    }

    private func records(_ rows: [OriginRow?], keys: [OriginRow]? = nil) -> [Record] {
        rows.enumerated().map { number, row in
            let new =
                row?.newRecord() ?? OriginRow.tombstone(of: (keys?[number] ?? self.row("one", .open)).newRecord().key)
            return Record(
                topic: .origins, partition: OriginRow.partition, offset: Int64(number), timestamp: row?.at ?? Self.now,
                key: new.key, value: new.value, headers: new.headers)
        }
    }

    @Test("A worker that starts reads blocks that last, slots, what operators say and young wishes; the newest of each")
    func start() {
        let hour = Duration.hours(1)
        func of(_ by: String, _ state: OriginRow.State, age: Duration = 1_000, until: Duration? = nil, host: String)
            -> OriginRow
        {
            var row = row(by, state, age: age, until: until)
            row.host = host
            return row
        }
        var wish = of("two", .open, host: "https://wish.example")
        wish.partition = PartitionID(3)
        var gone = wish
        (gone.host, gone.at) = ("https://gone.example", Self.now - hour)
        let slot = OriginRow(host: "https://s.example", slot: 3, at: PartitionID(7), at: 0)
        let blocked = of("one", .blocked, age: hour * 2, until: hour, host: "https://b.example")
        let over = of("two", .blocked, age: hour * 2, until: -1, host: "https://b.example")
        let opened = of("one", .blocked, until: hour, host: "https://o.example")
        let word = of("operator", .open, age: hour * 9, host: "https://p.example")
        let rows = [
            of("one", .open, host: "https://a.example"), blocked, over, slot, opened, wish, gone, word,
            of("one", .open, host: "https://o.example"),
        ]
        var reading = OriginReading(at: Self.now)
        for record in records(rows) { reading.take(record) }
        #expect(reading.rows == [blocked, slot, wish, word])
    }

    @Test("What is listed goes by hosts that live, however many rows there are, and a tombstone takes a row away")
    func listed() {
        let old = (0..<10_000).map { number in
            var row = row("one", .open, age: 7_200_000)
            row.host = "https://\(number).example"
            return row
        }
        let young = row("one", .open)
        let all = records(
            old + [row("one", .slowed), young, row("two", .open), nil],
            keys: old + [young, young, young, row("two", .open)])
        let hosts = Self.report(first: all, second: all).hosts
        #expect(hosts.map(\.host) == [young.host] && hosts.first?.limit == young.limit)
    }

    private static func report(first: [Record], second: [Record], owners: Set<String>? = nil) -> OriginReport {
        var scan = OriginScan(at: now)
        scan.find(first)
        var report = scan.begun(owners: owners)
        scan.fold(second, into: &report)
        return report
    }

    @Test("Rows that workers write again while a report is made count once each, wherever the passes find them")
    func written() {
        let rows = ["one", "two", "three"].map { row($0, .open) }
        let before = records(rows)
        // The log keeps the newest record of a key alone.
        let again = records(rows + rows + rows)
        let seconds: [[Record]] = [
            before, before + again[3...], Array(before[1...] + again[3..<4]), Array(again[3...]), Array(again[6...]),
        ]
        for second in seconds {
            let report = Self.report(first: before, second: second, owners: ["one@a", "two@b", "four@c"])
            #expect(report.hosts.map(\.limit) == [6] && report.hosts.map(\.inFlight) == [2])
        }
        var held = rows
        for place in held.indices { (held[place].throttledBy, held[place].waiting[.fast]) = (.rate, 5) }
        let report = Self.report(first: [], second: records(held), owners: ["one@a", "two@b"])
        #expect(report.hosts.map(\.isReported) == [false] && report.held["one@a"] == [held[0]])
    }

    @Test("A report of rows that are read in two passes is the one of all rows together")
    func passes() {
        let operators = [row("operator", .open, age: 400_000), row("operator", .blocked, until: 70_000)]
        for operators in operators {
            var rows = [
                row("one", .blocked, until: 50_000), row("two", .slowed, waiting: 3), row("gone", .open, age: 900_000),
                operators,
            ]
            var other = rows[1]
            (other.host, other.throttledBy) = ("https://b.example", .limit)
            rows.append(other)
            for owners: Set<String>? in [nil, ["one@a"], ["one@a", "two@b"], ["pid 7"], []] {
                let (all, records) = (OriginReport(of: rows, owners: owners, at: Self.now), records(rows))
                let read = Self.report(first: records, second: records, owners: owners)
                #expect(read.hosts == all.hosts && read.held == all.held)
            }
        }
    }

    @Test("A sweep finds keys whose newest row may go, so many at most, and looks at each record once")
    func sweep() {
        let old = (0..<OriginSweep.limit + 5).map { OriginRow(host: "https://\($0).example", by: "one", at: Self.now - .hours(2)) }
        var again = old[7]
        again.at = Self.now
        let all = records(old + [again])
        var sweep = OriginSweep(0..<Int64(all.count))
        for start in stride(from: 0, to: all.count, by: 1_000) {
            let page = Array(all[start...].prefix(1_000))
            sweep.take(page, page.map { OriginRow($0) }) { $0.isForgettable(at: Self.now) }
        }
        #expect(sweep.hasRead && sweep.isFull)
        var keys: Set<[UInt8]> = []
        while !sweep.isEmpty { keys.formUnion(sweep.takeFound(256).map(\.tombstone.key)) }
        #expect(keys.count == OriginSweep.limit - 1 && !keys.contains(again.newRecord().key))
        var empty = OriginSweep(7..<99)
        empty.take([], []) { _ in true }
        #expect(empty.hasRead && empty.next == 99)
    }

    @Test("A sweep ends though workers write more than it reads, and finds no row that was written meanwhile")
    func busy() {
        let old = (0..<20).map { OriginRow(host: "https://\($0).example", by: "one", at: Self.now - .hours(2)) }
        var all = records(old)
        var sweep = OriginSweep(0..<Int64(all.count))
        var looks = 0
        while !sweep.hasRead, looks < 100 {
            let page = Array(all.dropFirst(Int(sweep.next)).prefix(4))
            sweep.take(page, page.map { OriginRow($0) }) { _ in true }
            // Five rows for each four that are read: of keys that it has found, and of keys that it finds later.
            for number in [looks % 20, 19, 18, 17, 16] {
                sweep.keep(all[number].key)
                all.append(all[number])
            }
            looks += 1
        }
        #expect(looks == 5)
        let found = Set(sweep.takeFound(100).map(\.tombstone.key))
        #expect(found == Set(all[5..<16].map(\.key)))
    }

    @Test("A row that is written while the sweep deletes is not deleted, though its key was found before")
    func kept() {
        let slots = (0..<2).map { OriginRow(host: "https://s.example", slot: $0, at: PartitionID(7), at: 0) }
        let all = records(slots + [row("one", .open, age: 7_200_000)])
        var sweep = OriginSweep(0..<3)
        sweep.take(all, all.map { OriginRow($0) }) { _ in true }
        sweep.keep(all[0].key)
        #expect(Set(sweep.takeFound(9).map(\.tombstone.key)) == [all[1].key, all[2].key] && sweep.isEmpty)
    }

    @Test("Rows whose time lies days ahead, of a clock that was wrong, hide nothing and block nothing")
    func future() throws {
        let ahead = Duration.days(-400)
        let cases: [([OriginRow], OriginRow.State)] = [
            ([row("one", .blocked, until: 9), row("operator", .open, age: ahead)], .blocked),
            ([row("one", .blocked, age: ahead, until: 9 - ahead)], .open), ([row("one", .slowed, age: ahead)], .open),
        ]
        for (rows, state) in cases {
            #expect(try #require(OriginSummary.all(of: rows, at: Self.now).first).state == state, "\(rows)")
        }
    }

    @Test("Counts are added, the worst state counts, and that of a worker that is gone only while its block lasts")
    func summary() throws {
        let cases: [([OriginRow], OriginRow.State, inFlight: Int)] = [
            ([row("one", .open), row("two", .slowed)], .slowed, 2),
            ([row("one", .slowed, age: 60_000)], .open, 0),
            ([row("one", .blocked, age: 60_000, until: 1)], .blocked, 0),
            ([row("one", .blocked, age: 60_000, until: 0)], .open, 0),
            ([row("one", .probing), row("two", .blocked, until: 9)], .blocked, 2),
            ([row("one", .blocked, until: 9), row("operator", .open, age: 500)], .open, 1),
            ([row("one", .blocked, until: 9), row("operator", .open, age: 2_000)], .blocked, 1),
            ([row("one", .open), row("operator", .blocked, until: 9)], .blocked, 1),
        ]
        for (rows, state, inFlight) in cases {
            for rows in [rows, rows.reversed()] {
                let summary = try #require(OriginSummary.all(of: rows, at: Self.now).first)
                #expect(summary.state == state && summary.inFlight == inFlight, "\(rows)")
            }
        }
    }
}
