import Canonical
import Clocks
import Digest
import EmbeddedLog
import Failures
import Foundation
import ImageModel
import JSONText
import Ports
import Records
import TestSupport
import Testing
import VariantSpec

@Suite("mezzotint why", .timeLimit(.minutes(1)))
struct WhyCommandTests {
    private static let url = "http://a.example/b.jpg"
    private let folder: TemporaryFolder
    private let source: SourceKey
    init() throws {
        folder = try TemporaryFolder()
        source = try CanonicalRules().source(of: Self.url).key
    }

    private func run(_ words: String...) throws -> Ended {
        try Built.run("mezzotint", ["--set", "data=data", "why"] + words, in: folder.url)
    }

    private func object(_ words: String...) throws -> NSDictionary {
        let ended = try Built.run("mezzotint", ["--set", "data=data", "why", "--json"] + words, in: folder.url)
        #expect(ended.status == 0, "\(ended.errors)")
        return try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? NSDictionary)
    }

    private func row(_ spec: String, version: SourceVersion = SourceVersion(word: 1)) throws -> VariantRow {
        let spec = try CanonicalRules().spec(of: spec)
        let placement = spec.placement(of: PixelSize(width: 4000, height: 3000))
        return VariantRow(
            source: source, spec: spec, version: version, size: placement.output, bytes: 1,
            digest: SHA256.digest(of: [1]), location: "x", derivedFrom: .origin,
            sourceSize: PixelSize(width: 4000, height: 3000), region: placement.region, hasAlpha: false,
            storedAt: 1_700_000_000_000, expires: 4_000_000_000_000)
    }

    private func append(_ records: (PartitionID) throws -> [NewRecord]) async throws {
        let log = try EmbeddedLog(folder.file("data/log"))
        let partition = source.partition(of: log.partitionCount)
        for result in await log.append(try records(partition)) { #expect(result.offset != nil) }
        await log.close()
    }

    private func store(_ rows: VariantRow...) async throws {
        let fetched = SourceRow(
            source: source, url: Self.url, version: SourceVersion(word: 1), size: PixelSize(width: 4000, height: 3000),
            format: .jpeg, bytes: 7, digest: SHA256.digest(of: [2]), hasAlpha: false, original: nil,
            fetchedAt: 1_700_000_000_000, expires: 4_000_000_000_000)
        try await append { partition in
            rows.map { $0.newRecord(partition: partition) } + [fetched.newRecord(partition: partition)]
        }
    }

    @Test("Each stored variant is named with its refusal, as the planner gives it, and the plan is the planner's")
    func donors() async throws {
        try await store(
            try row("1280x1280-q90.jpg"), try row("320x320-q80.jpg"),
            try row("640x640.png", version: SourceVersion(word: 2)))
        let fetch = try object(Self.url, "1600x1600.png")
        #expect(fetch["source"] as? String == Self.url && fetch["sourceKey"] as? String == source.hex)
        #expect(fetch["plan"] as? NSDictionary == ["spec": "1600x1600.png", "action": "fetch", "from": NSNull()])
        let donors = try #require(fetch["donors"] as? [NSDictionary])
        #expect(donors.map { $0["spec"] as? String } == ["1280x1280-q90.jpg", "640x640.png", "320x320-q80.jpg"])
        #expect(donors.map { $0["refusal"] as? String } == ["scale", "version", "scale"])
        #expect(donors[0]["message"] as? String == "It has fewer pixels than are wanted.")
        #expect((fetch["stored"] as? [NSDictionary])?.count == 3)
        let last = try #require(fetch["lastFetch"] as? NSDictionary)
        #expect(last["at"] as? String == "2023-11-14T22:13:20.000Z" && last["bytes"] as? Int == 7)
        #expect((last["validators"] as? [Any])?.isEmpty == true)

        let render = try object(Self.url, "320x320-q80.webp")
        #expect(
            render["plan"] as? NSDictionary
                == ["spec": "320x320-q80.webp", "action": "render", "from": "1280x1280-q90.jpg"])
        #expect((render["donors"] as? [NSDictionary])?.first?["refusal"] is NSNull)
        let stored = try object(Self.url, "320x320-q80.jpg")
        #expect((stored["plan"] as? NSDictionary)?["action"] as? String == "stored")
        let off = try object("--set", "reuse.enabled=false", Self.url, "320x320-q80.webp")
        #expect((off["plan"] as? NSDictionary)?["action"] as? String == "fetch")

        let text = try run(Self.url, "1600x1600.png")
        #expect(text.status == 0 && text.errors.isEmpty, "\(text.errors)")
        for part in [
            "A job for 1600x1600.png fetches the source.", "scale", "It was made from another version of the source.",
            "The origin sent no validator", "No job of this source waits.",
        ] { #expect(text.output.contains(part), "\(part): \(text.output)") }
    }

    @Test("Without a spec nothing is planned, unless the URL asks for a variant; its rules are listed")
    func canonical() async throws {
        try await store(try row("1280x1280-q90.jpg"))
        let plain = try object(Self.url)
        #expect(plain["plan"] is NSNull && (plain["donors"] as? [Any])?.isEmpty == true)
        #expect((plain["canonical"] as? [Any])?.isEmpty == true)
        let url = "HTTP://A.example:80/b.jpg?imageView&thumbnail=80x80"
        let (dialect, asked) = (try object(url), try CanonicalRules().explain(url))
        #expect(dialect["source"] as? String == Self.url)
        #expect((dialect["plan"] as? NSDictionary)?["spec"] as? String == asked.source.variant?.description)
        let rules = try #require(dialect["canonical"] as? [NSDictionary]).compactMap { $0["rule"] as? String }
        #expect(rules == asked.steps.map(\.rule) && rules.count >= 3)
        #expect(try run("ftp://a.example/").status == 1)
        #expect(try run(Self.url, "0x0").status == 1)
        #expect(try run().status == 2)
    }

    @Test("A blocked host is a limit with its end, a group's settings are limits, and waiting jobs are listed")
    func limits() async throws {
        let job = #"{"url":"\#(Self.url)","variants":["20x20.png"],"id":"mine"}"#
        _ = try Built.run("mezzotint", ["--set", "data=data", "publish"], input: Data(job.utf8), in: folder.url)
        let unknown = try object(Self.url, "20x20.png")
        #expect(unknown["lastFetch"] is NSNull && unknown["lastOutcome"] is NSNull)
        #expect((unknown["limits"] as? [Any])?.isEmpty == true && (unknown["stored"] as? [Any])?.isEmpty == true)
        #expect((unknown["waiting"] as? [NSDictionary])?.map { $0["job"] as? String } == ["mine"])
        let blocked = try Built.run(
            "mezzotint", ["--set", "data=data", "origins", "block", "http://a.example", "--for", "1h"], in: folder.url)
        #expect(blocked.status == 0)
        let limits = try #require(try object(Self.url)["limits"] as? [NSDictionary])
        #expect(limits.count == 1 && limits[0]["kind"] as? String == "blocked", "\(limits)")
        #expect(limits[0]["host"] as? String == "http://a.example" && limits[0]["code"] as? String == "operator")
        #expect((limits[0]["until"] as? String)?.hasPrefix("20") == true)
        #expect(try run(Self.url).output.contains("Limit of http://a.example: blocked (operator), until 20"))
        let group = try object("--set", "origins.cdn.hosts=a.example", "--set", "origins.cdn.rate=150/m", Self.url)
        let kinds = try #require(group["limits"] as? [NSDictionary])
        #expect(kinds.map { $0["kind"] as? String } == ["rate"] && kinds[0]["value"] as? Double == 2.5, "\(kinds)")
    }
}
