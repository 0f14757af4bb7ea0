import Canonical
import Clocks
import Failures
import Foundation
import ImageModel
import Records
import TestSupport
import Testing

@Suite("Controls: requests about jobs that were published before", .timeLimit(.minutes(1)))
struct ControlTests {
    private static let rules = CanonicalRules()
    private static let appended = Fixture.record(.control, value: []).timestamp
    private static let url = "http://a.example/b.jpg?sig=secret"
    private static let source = try! rules.source(of: url).key
    private static let keys = JobKeys(["k": Array("0123456789abcdef".utf8)], signing: "k")!

    private static func record(_ body: String?, id: String? = nil, signature: String? = nil) -> Record {
        var headers: RecordHeaders = []
        if let id { headers.append("ce_id", id) }
        if let signature { headers.append("mz_signature", signature) }
        return Fixture.record(.control, value: body.map { Array($0.utf8) }, headers: headers)
    }

    /// The refusal of a record; nil: it is a control.
    private static func refusal(_ record: Record, keys: JobKeys? = nil) -> ControlFailure? {
        do throws(ControlFailure) { _ = try Control(record, rules: rules, keys: keys) } catch { return error }
        return nil
    }

    static let scopes: [Control.Scope] = [
        .job("a b/ä"), .source(source, SourceURL(url, hiding: rules.hidden)), .filter(.init(host: "a.example")),
        .filter(.init(lane: .slow)), .filter(.init(before: 1_795_256_916_000)),
        .filter(.init(host: "https://a.example:8443", lane: .fast, before: 5)),
    ]

    @Test("A control is read as it was written, and signed ones too", arguments: scopes, [Control.Verb.promote, .demote, .cancel])
    func reads(scope: Control.Scope, verb: Control.Verb) throws {
        var control = Control("c-1", verb, scope)
        var read = try Control(Fixture.read(control.newRecord(partition: Fixture.partition)), rules: Self.rules)
        #expect(read == control)
        control = Control(
            id: "c-1", verb, scope, by: "me@host", why: "the page is gone", at: Self.appended,
            ends: [.jobsFast: 0, .jobsSlow: 1 << 50])
        let record = control.newRecord(partition: Fixture.partition, signedBy: Self.keys)
        #expect(record.topic == .control && record.partition == Fixture.partition)
        if case .source(let source, _) = scope {
            #expect(record.key == RecordKey.job(source).bytes)
        } else {
            #expect(record.key.isEmpty)
        }
        #expect(record.headers["ce_type"].map { String(decoding: $0, as: UTF8.self) } == "mezzotint.control.requested.v1")
        read = try Control(Fixture.read(record), rules: Self.rules, keys: Self.keys)
        #expect(read.id == control.id && read.scope == scope && read.body == control.body)
    }

    @Test("The id is the header's, else the body's, else the record's position; null counts as absent")
    func ids() throws {
        func id(_ body: String, header: String? = nil) throws -> String {
            try Control(Self.record(body, id: header), rules: Self.rules).id
        }
        #expect(try id(#"{"kind":"cancel","job":"a","id":"own"}"#, header: "head") == "head")
        #expect(try id(#"{"kind":"cancel","job":"a","id":"own"}"#) == "own")
        #expect(try id(#"{"kind":"cancel","job":"a"}"#) == "control-3-17")
        let nulls =
            #"{"kind":"cancel","job":"a","url":null,"host":null,"lane":null,"before":null,"id":null,"by":null,"why":null,"at":null,"ends":null}"#
        #expect(
            try Control(Self.record("\u{FEFF}" + nulls), rules: Self.rules) == Control("control-3-17", .cancel, .job("a")))
    }

    @Test("A host is named in any case")
    func host() throws {
        let control = try Control(Self.record(#"{"kind":"cancel","host":"A.Example"}"#), rules: Self.rules)
        #expect(control.scope == .filter(.init(host: "a.example")))
    }

    @Test(
        "A wrong value is refused with a sentence that names it",
        arguments: [
            (nil, "it has no body"), ("", "it has no body"), ("[]", "expected"), ("{", "at byte"),
            (String(repeating: " ", count: 70_000), "it has 70000 bytes, over the limit of 65536"),
            (#"{"job":"a"}"#, #"the field "kind" is missing"#),
            (#"{"kind":"raise","job":"a"}"#, #""kind": expected promote, demote, cancel, pause or resume"#),
            (#"{"kind":null,"job":"a"}"#, #"the field "kind" is missing"#),
            (#"{"kind":"cancel"}"#, "at least one of host, lane and before, and names none of them"),
            (#"{"kind":"cancel","job":"a","url":"http://a.example/"}"#, "and names several of them"),
            (#"{"kind":"cancel","job":"a","lane":"fast"}"#, "and names several of them"),
            (#"{"kind":"cancel","url":"http://a.example/","before":5}"#, "and names several of them"),
            (#"{"kind":"cancel","job":""}"#, #""job": expected an id of 1 to 256 bytes"#),
            (#"{"kind":"cancel","job":7}"#, #""job": expected"#),
            (#"{"kind":"cancel","job":"a","id":""}"#, #""id": expected an id of 1 to 256 bytes"#),
            (#"{"kind":"cancel","url":"ftp://a.example/"}"#, "ftp"),
            (#"{"kind":"cancel","host":""}"#, #""host": expected a host of 1 to 300 bytes"#),
            (#"{"kind":"cancel","lane":"medium"}"#, #""lane": expected fast or slow"#),
            (#"{"kind":"cancel","before":"now"}"#, #""before": expected"#),
            (#"{"kind":"cancel","before":1795256916}"#, #""before": 1795256916 is a time in 1970. Give milliseconds"#),
            (#"{"kind":"cancel","job":"a","at":1795256916}"#, #""at": 1795256916 is a time in 1970. Give milliseconds"#),
            (#"{"kind":"cancel","job":"a","by":"\#(String(repeating: "b", count: 257))"}"#, #""by": expected a text of"#),
            (#"{"kind":"cancel","job":"a","why":"\#(String(repeating: "b", count: 257))"}"#, #""why": expected a text of"#),
            (#"{"kind":"cancel","job":"a","ends":{"jobs.fast":-1}}"#, #""jobs.fast": expected"#),
            (#"{"kind":"cancel","job":"a","ends":{"jobs.medium":1}}"#, #"unknown field "jobs.medium""#),
            (#"{"kind":"cancel","job":"a","ends":[1]}"#, #""ends": expected"#),
            (#"{"kind":"cancel","jobs":"a"}"#, #"it has an unknown field "jobs". Its fields are kind, job, url, host"#),
            (#"{"kind":"cancel","job":"a","job":"b"}"#, "given twice"),
            (#"{"kind":"cancel","all":true}"#, #""all" and "until" are fields of pause and resume, and it is a cancel"#),
            (#"{"kind":"promote","job":"a","until":5}"#, #""all" and "until" are fields of pause and resume"#),
        ])
    func refused(body: String?, sentence: String) {
        let failure = Self.refusal(Self.record(body))
        #expect(failure?.code == "control.invalid" && failure?.verdict == .fail && failure?.isUntrusted == false)
        #expect(failure?.description.contains(sentence) == true, "\(failure?.description ?? "it is taken")")
        #expect(failure?.description.contains("Nothing was changed") == true)
    }

    @Test("An id in the header that is none is refused")
    func badID() {
        let failure = Self.refusal(Self.record(#"{"kind":"cancel","job":"a"}"#, id: "a\nb"))
        #expect(failure?.description.contains("the header ce_id is not an id") == true)
    }

    @Test(
        "A control from the future is refused; a signed one also if it is too old, or does not state its time",
        arguments: [
            (at: Duration.zero, unsigned: nil, signed: nil), (.minutes(10), nil, nil), (.minutes(-10), nil, nil),
            (.milliseconds(600_001), "control.invalid", "control.invalid"), (.milliseconds(-600_001), nil, "control.replayed"),
            (nil, nil, "control.invalid"),
        ] as [(at: Duration?, unsigned: String?, signed: String?)])
    func ages(at: Duration?, unsigned: String?, signed: String?) {
        let control = Control("c", .cancel, .job("a"), at: at.map { Self.appended + $0 })
        let record = Fixture.read(control.newRecord(partition: Fixture.partition, signedBy: Self.keys))
        #expect(Self.refusal(record)?.code == unsigned)
        #expect(Self.refusal(record, keys: Self.keys)?.code == signed)
    }

    @Test("Nothing of a signed control can be changed or left out, and no record is read without a signature")
    func forged() {
        let body = #"{"kind":"cancel","job":"a","at":\#(Self.appended.milliseconds)}"#
        let good = Self.keys.signature(controlID: "c", body: Array(body.utf8))
        let digest = String(good.suffix(64))
        #expect(Self.refusal(Self.record(body, id: "c", signature: good), keys: Self.keys) == nil)
        let cases: [(Record, String)] = [
            (Self.record(body, id: "c"), "control.unsigned"), (Self.record("no JSON", id: "c"), "control.unsigned"),
            (Self.record(body + " ", id: "c", signature: good), "control.forged"),
            (Self.record(body, id: "d", signature: good), "control.forged"),
            (Self.record(body, signature: good), "control.forged"),
            (Self.record(body, id: "c", signature: ""), "control.forged"),
            (Self.record(body, id: "c", signature: "v2;k;\(digest)"), "control.forged"),
            (Self.record(body, id: "c", signature: "v1;k;\(digest.dropLast())"), "control.forged"),
            (Self.record(body, id: "c", signature: "v1;gone;\(digest)"), "control.forged"),
            (
                Self.record(body, id: "c", signature: Self.keys.signature(lane: .fast, id: "c", body: Array(body.utf8))),
                "control.forged"
            ),
        ]
        for (record, code) in cases {
            let failure = Self.refusal(record, keys: Self.keys)
            #expect(failure?.code == code && failure?.isUntrusted == true, "\(record)")
        }
    }

    private static func job(_ id: String = "a", _ url: String = url, _ lane: Lane = .fast) throws -> Job {
        Job(
            id: id, url: SourceURL(url), source: try rules.source(of: url).key, variants: [Fixture.spec], lane: lane)
    }

    @Test(
        "A control names the jobs that have all of its properties",
        arguments: [
            (#""job":"a""#, true), (#""job":"b""#, false), (#""url":"HTTP://A.example:80/b.jpg?sig=secret""#, true),
            (#""url":"http://a.example/c.jpg""#, false), (#""host":"a.example""#, true), (#""host":"example""#, false),
            (#""host":"http://a.example""#, true), (#""host":"https://a.example""#, false), (#""lane":"fast""#, true),
            (#""lane":"slow""#, false), (#""host":"a.example","lane":"slow""#, false), (#""before":5"#, true),
        ])
    func names(fields: String, isNamed: Bool) throws {
        let control = try Control(Self.record(#"{"kind":"cancel",\#(fields)}"#), rules: Self.rules)
        #expect(control.names(try Self.job()) == isNamed)
        for prefix in [Job.changePrefix, Job.staleRefreshPrefix] {
            #expect(!control.names(try Self.job(prefix + "1")), "a worker's own job")
        }
    }

    @Test(
        "A job was published before a control by its offset if the control states the lane's end, else by time",
        arguments: [
            (ends: [.jobsFast: 18], before: nil, published: 99, isAfter: true), ([.jobsFast: 17], nil, 1, false),
            ([.jobsSlow: 1], nil, 10, true), ([:], nil, 10, true), ([:], nil, 11, false), ([:], 10, 10, false),
            ([:], 11, 10, true), ([.jobsFast: 18], 10, 10, false),
        ] as [(ends: [Topic: Int64], before: WallTime?, published: WallTime, isAfter: Bool)])
    func after(ends: [Topic: Int64], before: WallTime?, published: WallTime, isAfter: Bool) {
        let control = Control("c", .cancel, .filter(.init(host: "a.example", before: before)), ends: ends)
        let identity = JobIdentity(of: Fixture.record(.jobsFast, value: [], offset: 17))
        #expect(control.isAfter(identity, published: published, appended: 10) == isAfter)
    }

    @Test("An outcome is read as it was written, with the URL's secrets left out", arguments: scopes)
    func outcomes(scope: Control.Scope) throws {
        let control = Control(
            id: "c", .demote, scope, by: "me@host", why: "the page is gone", at: 7, ends: [.jobsFast: 1])
        for jobs in [0, 3] {
            let outcome = ControlOutcome(of: control, jobs: jobs, at: 9)
            #expect(outcome.kind == (jobs == 0 ? .unknown : .applied) && outcome.requested == 7)
            let record = Fixture.read(outcome.newRecord(partition: Fixture.partition, key: [1]))
            #expect(record.isOfControl && record.header("ce_id") == "c/control/3" && record.key == [1])
            #expect(try ControlOutcome(record) == outcome)
            #expect(!Fixture.text(record.value).contains("secret"))
        }
    }

    @Test("A refusal keeps its code and its sentence; a job's outcome is no control's; a damaged one is named")
    func refusedOutcome() throws {
        let failure = ControlFailure.misplaced(url: "http://a.example/?…", key: "00")
        let outcome = ControlOutcome(control: "c", verb: nil, kind: .refused, failure: FailureNote(failure), at: 9)
        var record = Fixture.read(outcome.newRecord(partition: Fixture.partition, key: []))
        #expect(try ControlOutcome(record) == outcome && outcome.failure?.code == "control.misplaced")
        record.value = Array("{}".utf8)
        #expect(throws: RecordFailure.self) { try ControlOutcome(record) }
        let job = Outcome(
            job: "a", source: Self.source, url: SourceURL(Self.url), lane: .fast, kind: .cancelled, variants: [], at: 9)
        #expect(try ControlOutcome(Fixture.read(job.newRecord(partition: Fixture.partition))) == nil)
        #expect(throws: RecordFailure.self) {
            try OutcomeReport(Fixture.read(outcome.newRecord(partition: Fixture.partition, key: [])))
        }
    }
}

extension Control {
    /// A short form for tests.
    fileprivate init(_ id: String, _ verb: Verb, _ scope: Scope, at: WallTime? = nil, ends: [Topic: Int64] = [:]) {
        self.init(id: id, verb, scope, at: at, ends: ends)
    }
}
