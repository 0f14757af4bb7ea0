import Canonical
import Digest
import Failures
import Foundation
import ImageModel
import Records
import TestSupport
import Testing

@Suite("Signed jobs", .timeLimit(.minutes(1)))
struct JobKeysTests {
    private static let keys = JobKeys(
        ["old": Array("0123456789abcdef".utf8), "new": Array("fedcba9876543210".utf8)], signing: "new")!
    private static let body = Array(#"{"url":"https://a.example/b.jpg","variants":["640x480-q80.webp"]}"#.utf8)

    private struct Vectors: Decodable {
        struct Vector: Decodable {
            let note, key, secret, lane, id, body, signature: String
        }
        struct Control: Decodable {
            let note, key, secret, id, body, signature: String
        }
        let vectors: [Vector]
        let controls: [Control]
    }

    private static func record(
        _ topic: Topic = .jobsFast, id: String? = "job-1", body: [UInt8]? = body, lane: String? = nil,
        signature: String?
    ) -> Record {
        var headers: RecordHeaders = []
        if let id { headers.append("ce_id", id) }
        if let lane { headers.append("mz_lane", lane) }
        if let signature { headers.append("mz_signature", signature) }
        return Fixture.record(topic, value: body, headers: headers)
    }

    private static var signature: String { keys.signature(lane: .fast, id: "job-1", body: body) }

    @Test(
        "HMAC-SHA256 is that of RFC 4231",
        arguments: [
            (
                key: [UInt8](repeating: 0x0b, count: 20), text: "Hi There",
                hex: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                key: Array("Jefe".utf8), text: "what do ya want for nothing?",
                hex: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                key: [UInt8](repeating: 0xaa, count: 131),
                text: "Test Using Larger Than Block-Size Key - Hash Key First",
                hex: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func hmac(key: [UInt8], text: String, hex: String) {
        let digest = HMAC.sha256(of: Array(text.utf8), key: key)
        #expect(digest.hex == hex && digest.equalsInConstantTime(digest))
        #expect(!digest.equalsInConstantTime(HMAC.sha256(of: Array(text.utf8) + [0], key: key)))
    }

    @Test("The vectors for other languages hold, made and checked")
    func vectors() throws {
        let file = Project.file("config/signing-vectors.json")
        let all = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file))
        let vectors = all.vectors
        #expect(vectors.count >= 7 && Set(vectors.map(\.signature)).count == vectors.count)
        for vector in vectors {
            let keys = try #require(JobKeys([vector.key: Array(vector.secret.utf8)], signing: vector.key))
            let (lane, body) = (try #require(Lane(rawValue: vector.lane)), Array(vector.body.utf8))
            #expect(keys.signature(lane: lane, id: vector.id, body: body) == vector.signature, "\(vector.note)")
            try keys.check(Self.record(.jobs(lane), id: vector.id, body: body, signature: vector.signature))
        }
        #expect(all.controls.count >= 3)
        for vector in all.controls {
            let keys = try #require(JobKeys([vector.key: Array(vector.secret.utf8)], signing: vector.key))
            let body = Array(vector.body.utf8)
            #expect(keys.signature(controlID: vector.id, body: body) == vector.signature, "\(vector.note)")
            let record = Self.record(.control, id: vector.id, body: body, signature: vector.signature)
            #expect(try Control(record, rules: CanonicalRules(), keys: keys).id == vector.id)
        }
    }

    @Test("Every key is taken, on the job's own topic and on those of retries")
    func taken() throws {
        try Self.keys.check(Self.record(signature: Self.signature))
        let old = try #require(JobKeys(["old": Array("0123456789abcdef".utf8)], signing: "old"))
        try Self.keys.check(Self.record(signature: old.signature(lane: .fast, id: "job-1", body: Self.body)))
        for topic in Topic.retries { try Self.keys.check(Self.record(topic, lane: "fast", signature: Self.signature)) }
        #expect(JobKeys([:], signing: "new") == nil)
    }

    @Test("What is to be told of a change is what the job was signed with: a header beside it counts for nothing")
    func change() throws {
        var row = Fixture.sourceRow
        row.fetchedAt = 9
        func change(_ location: String) -> SourceChange {
            var old = Fixture.variant
            old.location = location
            return SourceChange(from: Fixture.sourceRow, to: row, stored: [.init(old)])
        }
        let told = change("old")
        let header = try #require(told.headers.first)
        let job = Job(
            id: SourceChange.id("\(Job.changePrefix)x", telling: header), url: "http://a.example/b.jpg",
            source: Fixture.source, variants: [Fixture.spec], lane: .slow)
        func read(_ header: RecordHeader) -> SourceChange? {
            SourceChange(of: job, in: Fixture.record(.retry1m, value: job.body, headers: [header]))
        }
        let good = try #require(read(header))
        #expect(good.stored == told.stored && good.id == told.id)
        #expect(try read(#require(change("another").headers.first)) == nil)
        #expect(read(RecordHeader(header.name, header.value + [0x20])) == nil)
    }

    @Test("Nothing that is signed can be changed, and nothing left out")
    func forged() {
        func code(_ record: Record) -> String? {
            do throws(JobFailure) { try Self.keys.check(record) } catch {
                #expect(error.isUntrusted && error.verdict == .deadLetter)
                return error.code
            }
            return nil
        }
        let (good, digest) = (Self.signature, String(Self.signature.suffix(64)))
        for place in Self.body.indices {
            var body = Self.body
            body[place] ^= 1
            #expect(code(Self.record(body: body, signature: good)) == "job.forged")
        }
        let cases: [(Record, String)] = [
            (Self.record(signature: nil), "job.unsigned"),
            (Self.record(body: Self.body + [32], signature: good), "job.forged"),
            (Self.record(body: nil, signature: good), "job.forged"),
            (Self.record(id: "job-2", signature: good), "job.forged"),
            (Self.record(id: nil, signature: good), "job.forged"),
            (Self.record(.jobsSlow, signature: good), "job.forged"),
            (Self.record(.retry10s, lane: "slow", signature: good), "job.forged"),
            (Self.record(.retry10s, signature: good), "job.forged"), (Self.record(signature: ""), "job.forged"),
            (Self.record(signature: digest), "job.forged"), (Self.record(signature: "v2;new;\(digest)"), "job.forged"),
            (Self.record(signature: "v1;new;" + digest.dropLast()), "job.forged"),
            (Self.record(signature: good + ";"), "job.forged"),
            (Self.record(signature: "v1;old;\(digest)"), "job.forged"),
            (Self.record(signature: "v1;new;" + String(repeating: "0", count: 64)), "job.forged"),
            (Self.record(signature: "v1;gone;\(digest)"), "job.unknown-key"),
            (Self.record(signature: "v1;;\(digest)"), "job.unknown-key"),
        ]
        for (record, wanted) in cases { #expect(code(record) == wanted, "\(record)") }
    }
}
