import Canonical
import Clocks
import Failures
import ImageModel
import Records
import TestSupport
import Testing

@Suite("Pauses: controls that hold back a lane, a host or all jobs", .timeLimit(.minutes(1)))
struct PauseTests {
    private static let rules = CanonicalRules()
    private static let appended = Fixture.record(.control, value: []).timestamp
    private static let keys = JobKeys(["k": Array("0123456789abcdef".utf8)], signing: "k")!

    private static func read(_ body: String) throws(ControlFailure) -> Control {
        try Control(Fixture.record(.control, value: Array(body.utf8)), rules: rules)
    }

    @Test(
        "A pause and a resume name one lane, one host, or all; a pause without an end has 30 min",
        arguments: [
            (#"{"kind":"pause","all":true}"#, Pause.Scope.all, Duration.minutes(30) as Duration?),
            (#"{"kind":"pause","lane":"slow","all":false,"host":null,"until":null}"#, .lane(.slow), .minutes(30)),
            (
                #"{"kind":"pause","host":"A.Example","until":\#((appended + .hours(24)).milliseconds)}"#,
                .host("a.example"), .hours(24)
            ),
            (
                #"{"kind":"pause","host":"https://a.example:8443","until":\#((appended + .milliseconds(1)).milliseconds)}"#,
                .host("https://a.example:8443"), .milliseconds(1)
            ),
            (#"{"kind":"resume","all":true}"#, .all, nil), (#"{"kind":"resume","lane":"fast"}"#, .lane(.fast), nil),
        ])
    func reads(body: String, scope: Pause.Scope, lasts: Duration?) throws {
        let control = try Self.read(body)
        #expect(control.pauseScope == scope && control.until == lasts.map { Self.appended + $0 })
        var signed = control
        signed.at = Self.appended
        let record = Fixture.read(signed.newRecord(partition: Fixture.partition, signedBy: Self.keys))
        let again = try Control(record, rules: Self.rules, keys: Self.keys)
        #expect(again.pauseScope == scope && again.until == control.until && again.isSigned)
    }

    @Test(
        "Bad input is refused with a sentence, and changes nothing",
        arguments: [
            (#"{"kind":"pause"}"#, "a pause must have exactly one of host, lane and \"all\": true"),
            (#"{"kind":"pause","all":false}"#, "exactly one of host, lane"),
            (#"{"kind":"resume"}"#, "a resume must have exactly one"),
            (#"{"kind":"pause","all":true,"lane":"slow"}"#, "exactly one of host, lane"),
            (#"{"kind":"pause","host":"a.example","lane":"slow"}"#, "exactly one of host, lane"),
            (#"{"kind":"pause","job":"1"}"#, "exactly one of host, lane"),
            (#"{"kind":"pause","all":true,"job":"1"}"#, "no other field that names jobs"),
            (#"{"kind":"pause","all":true,"before":5}"#, "no other field that names jobs"),
            (#"{"kind":"pause","url":"http://a.example/"}"#, "exactly one of host, lane"),
            (#"{"kind":"pause","all":1}"#, #""all": expected true or false"#),
            (
                #"{"kind":"pause","all":true,"until":\#(appended.milliseconds)}"#,
                "is not after the time at which it was appended"
            ),
            (#"{"kind":"pause","all":true,"until":5}"#, "is not after the time at which it was appended"),
            (
                #"{"kind":"pause","all":true,"until":\#((appended + .hours(24) + .milliseconds(60_001)).milliseconds)}"#,
                "is more than 24 h after it was appended"
            ),
            (#"{"kind":"pause","all":true,"until":1795256916}"#, "is a time in 1970. Give milliseconds"),
            (
                #"{"kind":"resume","all":true,"until":\#((appended + .hours(1)).milliseconds)}"#,
                "a resume has no \"until\""
            ),
        ])
    func refused(body: String, sentence: String) {
        do throws(ControlFailure) {
            _ = try Self.read(body)
            Issue.record("it is taken")
        } catch {
            #expect(error.code == "control.invalid" && error.description.contains(sentence), "\(error)")
            #expect(error.description.contains("Nothing was changed"))
        }
    }

    @Test(
        "A pause holds what it names, and nothing else",
        arguments: [
            (Pause.Scope.all, "https://b.example", Lane.slow, true), (.lane(.slow), "https://b.example", .slow, true),
            (.lane(.slow), "https://b.example", .fast, false),
            (.host("a.example"), "https://a.example:8443", .fast, true),
            (.host("https://a.example"), "https://a.example", .slow, true),
            (.host("https://a.example"), "http://a.example", .slow, false),
            (.host("a.example"), "https://b.a.example", .fast, false), (.host("images"), "images", .fast, true),
        ])
    func holds(scope: Pause.Scope, host: String, lane: Lane, isHeld: Bool) {
        let pause = Pause("c", scope, since: 1, until: 9)
        #expect((pause.holds(lane) || pause.holds(OriginHost(group: host))) == isHeld)
        #expect(pause.isOver(at: 9) && !pause.isOver(at: 8))
    }

    @Test("A progress row keeps its pauses; those of a newer version's scope are left out")
    func row() throws {
        let pauses = [
            Pause("a", .all, since: 1, until: 2, by: "me@host", why: "w"), Pause("b", .lane(.slow), since: 3, until: 4),
            Pause("c", .host("https://a.example"), since: 5, until: 6),
        ]
        let row = ProgressRow(partition: Fixture.partition, topics: [:], pauses: pauses, at: 7)
        #expect(ProgressRow(partition: Fixture.partition, stored: row.json) == row)
        let newer =
            #"{"topics":{},"pauses":[{"control":"a","preset":"card","since":1,"until":2},{"control":"b","lane":"slow","since":3,"until":4}],"at":7}"#
        let read = try #require(ProgressRow(partition: Fixture.partition, stored: Array(newer.utf8)))
        #expect(read.pauses == [pauses[1]])
    }

    @Test("Pauses of several partitions are one, in the order of their ends; over ones are left out")
    func standing() {
        let pauses = [("a", 30), ("b", 20), ("a", 30), ("c", 10)].map {
            Pause($0, .all, since: 1, until: WallTime(milliseconds: $1))
        }
        #expect(Pause.active(pauses, at: 10).map(\.control) == ["b", "a"])
        #expect(pauses.counts == ["all": 4, "fast": 0, "slow": 0, "host": 0])
    }

    @Test("An outcome states the end of its pause")
    func outcome() throws {
        let control = Control(id: "c", .pause, .all, by: "me", until: 99)
        for isApplied in [true, false] {
            let outcome = ControlOutcome(of: control, isApplied: isApplied, at: 9)
            #expect(outcome.kind == (isApplied ? .applied : .unknown) && outcome.until == 99)
            #expect(
                try ControlOutcome(Fixture.read(outcome.newRecord(partition: Fixture.partition, key: []))) == outcome)
        }
    }
}
