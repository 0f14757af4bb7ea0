import Canonical
import Clocks
import Hosts
import ImageModel
import Ledger
import Partition
import Permits
import Records
import TestSupport
import Testing

/// Six workers that hear of each other a second and a half late, and one host.
@Suite("A host that one worker leaves alone is left alone by all, and asked again by one", .timeLimit(.minutes(1)))
struct SharedBlockTests {
    private struct Crew {
        static let host = OriginHost(of: "http://h.example/")
        static let late: Duration = 1_500
        var workers: [PermitScheduler]
        var told: [OriginRow?]
        var rows: [(row: OriginRow, at: Instant)] = []
        var heard: [Int]
        /// When the host was asked, and by whom.
        var asked: [(at: Instant, by: Int)] = []
        var now: Instant = 0
        /// How the host answers: at once.
        var answer: (Instant, Int) -> OriginResponse
        private var (steps, number) = (0, 0)

        init(_ count: Int, answer: @escaping (Instant, Int) -> OriginResponse) {
            workers = (0..<count).map { worker in
                var permits = PermitScheduler(
                    PermitRules(fetch: 8, render: 1, origins: OriginRules(concurrency: 6)))
                permits.own(Set((0..<2).map { PartitionID(Int32(worker * 2 + $0)) }), of: count * 2)
                permits.knowSlots()
                return permits
            }
            (told, heard, self.answer) = (
                Array(repeating: nil, count: count), Array(repeating: 0, count: count), answer
            )
        }

        private var moment: Moment { Moment(wall: Moment(now).wall + 1_000_000, monotonic: now) }

        func state(_ worker: Int) -> OriginState.Phase? { workers[worker].origins[Self.host]?.phase }

        mutating func write(_ row: OriginRow) { rows.append((row, now)) }

        /// A quarter of a second: each worker hears, tells once a second, and has a job for the host at all times.
        mutating func step(asking: Set<Int>? = nil) {
            (now, steps) = (now + 250, steps + 1)
            for worker in workers.indices {
                while heard[worker] < rows.count, rows[heard[worker]].at + Self.late <= now {
                    let row = rows[heard[worker]].row
                    heard[worker] += 1
                    if row.by != "\(worker)" {
                        _ = workers[worker].hear(row, isOld: false, isOwn: false, at: moment)
                    }
                }
                if asking?.contains(worker) ?? true {
                    number += 1
                    let flight = FlightID(PartitionID(Int32(worker * 2)), number)
                    workers[worker].request(.fetch, flight, lane: .fast, since: Moment(now).wall, host: Self.host)
                    for grant in workers[worker].grants(at: Moment(now)) {
                        asked.append((now, worker))
                        _ = workers[worker].apply(
                            .hear(answer(now, worker), grant.flight, code: "x"), at: moment)
                    }
                    workers[worker].forget(flight)
                }
                guard steps % 4 == worker % 4, let origin = workers[worker].origins[Self.host] else {
                    continue
                }
                let row = origin.row(of: Self.host, by: "\(worker)", at: moment)
                var last = told[worker]
                last?.at = row.at
                if last != row || row.state != .open && steps % 40 < 4 { write(row) }
                told[worker] = row
            }
        }

        mutating func run(until end: Instant, asking: Set<Int>? = nil) { while now < end { step(asking: asking) } }
    }

    @Test("What the host wants of one worker holds for all, no longer than it wants, and one asks first")
    func wish() {
        var crew = Crew(6) { now, _ in now < 8_000 ? .refused(after: 10_000, mayBeOfURL: false) : .responded(bytes: 0) }
        crew.run(until: 1_000, asking: [2])
        let asked = crew.asked.count
        crew.run(until: 60_000)
        // Those that had not heard of it, in the first second and a half.
        let early = crew.asked.filter { $0.at > 3_000 && $0.at < 10_000 }
        #expect(asked > 0 && early.isEmpty)
        let first = crew.asked.first { $0.at > 3_000 }
        #expect(first.map { $0.at <= 18_000 } ?? false, "\(first.map { "\($0)" } ?? "never")")
        for worker in 0..<6 { #expect(crew.state(worker) == .open) }
    }

    @Test("A host that fails for minutes is asked about once a pause by all together, and by all again when it answers")
    func failing() {
        var crew = Crew(6) { now, _ in now < 300_000 ? .failed : .responded(bytes: 0) }
        crew.run(until: 300_000)
        // Each worker needs five failures to find out; then pauses of 30, 60, 90, 120 s, in each of which all may hear late
        // of one who asked.
        let first = crew.asked.filter { $0.at <= 5_000 }.count
        let later = crew.asked.count - first
        #expect(first <= 30 && (2...14).contains(later), "\(first) \(crew.asked.dropFirst(first))")
        crew.run(until: 480_000)
        for worker in 0..<6 { #expect(crew.state(worker) == .open) }
    }

    @Test(
        "A block by hand ends for all workers when a person ends it, though one that had not heard so repeats its own")
    func unblock() {
        var crew = Crew(6) { now, _ in now < 20_000 ? .failed : .responded(bytes: 0) }
        crew.run(until: 20_000)
        var open = OriginRow(host: Crew.host.description, by: OriginRow.operatorName, at: 1_020_000)
        open.state = .open
        crew.write(open)
        // Of one that has not read it yet.
        var late = OriginRow(host: Crew.host.description, by: "0", at: 1_020_100)
        (late.state, late.until) = (.blocked, 1_050_000)
        crew.write(late)
        crew.run(until: 25_000)
        for worker in 0..<6 { #expect(crew.state(worker) == .open) }
        let asked = crew.asked.filter { $0.at > 20_000 }
        #expect(Set(asked.map(\.by)).count == 6)
    }

    @Test(
        "The worker that found out has no more jobs for it: another asks when the time is over, and the answer is for all of them"
    )
    func gone() {
        var crew = Crew(6) { now, _ in now < 20_000 ? .failed : .responded(bytes: 0) }
        crew.run(until: 1_500, asking: [4])
        crew.run(until: 200_000, asking: [0, 1, 2, 3, 5])
        for worker in [0, 1, 2, 3, 5] { #expect(crew.state(worker) == .open) }
        let probe = crew.asked.first { $0.at > 20_000 }
        #expect(probe.map { $0.at < 90_000 } ?? false, "\(crew.asked)")
    }

    @Test("A worker that alone cannot reach the host keeps no other from it", arguments: 0..<6, [true, false])
    func broken(worker: Int, isAskedBefore: Bool) {
        var crew = Crew(6) { $1 == worker ? .failed : .responded(bytes: 0) }
        let others = Set(0..<6).subtracting([worker])
        if isAskedBefore { crew.run(until: 2_000, asking: others) } else { crew.run(until: 30_000, asking: [worker]) }
        crew.run(until: 600_000)
        for other in others {
            #expect(crew.state(other) == .open)
            #expect(crew.asked.filter { $0.by == other && $0.at > 300_000 }.count > 100)
        }
        #expect(crew.asked.filter { $0.by == worker }.count < 30)
    }

    @Test("A host that fails for all, and comes back for all but one, is asked by the others again", arguments: 0..<6)
    func brokenLater(worker: Int) {
        var crew = Crew(6) { $1 == worker || $0 < 60_000 ? .failed : .responded(bytes: 0) }
        crew.run(until: 3_000_000)
        for other in 0..<6 where other != worker {
            #expect(crew.state(other) == .open)
            #expect(crew.asked.filter { $0.by == other && $0.at > 2_500_000 }.count > 100)
        }
    }

    @Test("A time that the host has named to a worker is kept by it, whoever is answered meanwhile, and failed before")
    func named() {
        var crew = Crew(2) { now, worker in
            worker == 1 ? .responded(bytes: 0) : now < 2_000 ? .failed : .refused(after: 40_000, mayBeOfURL: false)
        }
        // The five failures' time ends at 32 s; its first probe is told to wait.
        crew.run(until: 300_000)
        let asked = crew.asked.filter { $0.by == 0 && $0.at > 2_000 }.map(\.at)
        #expect(!asked.isEmpty && zip(asked, asked.dropFirst()).allSatisfy { $1 - $0 >= 40_000 })
    }
}
