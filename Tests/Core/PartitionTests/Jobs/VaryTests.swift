import Canonical
import HTTPCache
import ImageModel
import Jobs
internal import Ledger
import Partition
import Permits
import Ports
import Records
import TestSupport
import Testing
import VariantSpec

/// What is stored of an answer that was chosen by headers (`Vary`), once others are sent.
extension CachingTests {
    private static let url = "http://o/a"

    private static func sent(_ userAgent: String, group: String? = nil) throws -> SentHeaders {
        var sent = SentHeaders(userAgent: userAgent)
        if let group { sent.groups = [(try OriginGroup(name: "g", hosts: [group]), [("X-A", "1")])] }
        return sent
    }

    /// As the origin answered whoever sent these.
    private func stored(
        _ control: String, vary: String, to sent: SentHeaders, location: String? = nil
    ) throws -> SourceSnapshot {
        var snapshot = try stored([
            ("cache-control", control), ("etag", "\"a\""), ("last-modified", "Thu, 01 Jan 1970 00:00:00 GMT"),
        ])
        snapshot.source?.policy.location = location
        snapshot.source?.policy.selection = Selection(vary: [vary], sent: sent.all(for: location ?? Self.url))
        return snapshot
    }

    private func kind(_ effects: [JobEffect]) -> PermitKind? {
        for case .permit(.request(let kind, _, _, _, _, _)) in effects { return kind }
        return nil
    }

    @Test(
        "What was chosen by other headers is asked for again before it is used (RFC 9111, 4.1)",
        arguments: [
            ("User-Agent", nil, nil, true), ("Accept, user-agent", nil, nil, true), ("Accept", nil, nil, false),
            ("X-A", "o", nil, true), ("X-A", "p", nil, false), ("X-A", "p", "http://p/b", true),
            ("X-A", "o", "http://p/b", false),
        ] as [(String, String?, String?, Bool)])
    func otherHeaders(_ vary: String, _ group: String?, _ location: String?, isAsked: Bool) throws {
        let (before, now) = (try Self.sent("one/1"), try Self.sent("other/2", group: group))
        var driver = PartitionStateTests.Driver(sent: now)
        driver.stored = try stored("max-age=3600", vary: vary, to: before, location: location)
        let same = driver.pending("same", source, [PartitionStateTests.small])
        #expect(kind(driver.feed(.arrived(same), at: 1_000)) == (isAsked ? .fetch : nil))
        // It would be made of the large one.
        let smaller = VariantSpec(width: 300, height: 300, format: .webp)
        var other = PartitionStateTests.Driver(sent: now)
        other.stored = driver.stored
        let another = other.pending("other", source, [smaller])
        #expect(kind(other.feed(.arrived(another), at: 1_000)) == (isAsked ? .fetch : .render))
    }

    @Test("It is asked for by its entity tag alone, and a yes makes it what these headers are answered by")
    func confirmedToOthers() throws {
        let (before, now) = (try Self.sent("one/1"), try Self.sent("other/2"))
        var driver = PartitionStateTests.Driver(sent: now)
        driver.stored = try stored("max-age=3600", vary: "User-Agent", to: before)
        let job = driver.pending("j", source, [PartitionStateTests.small])
        let id = try #require(rules.flight(driver.feed(.arrived(job), at: 1_000)))
        let known = try #require(request(driver.feed(.granted(.fetch, id), at: 1_000))?.known)
        #expect(known.conditions.map(\.name) == ["If-None-Match"])
        var yes = ResponseHead()
        yes.sent = now.all(for: Self.url)
        _ = driver.feed(.notModified(id, yes), at: 2_000)
        let task = try #require(rules.renderTask(driver.feed(.granted(.render, id), at: 2_000)))
        #expect(task.batch == nil && task.renewed.map(\.expires) == [3_602_000, 3_602_000])
        let row = try #require(task.fetched?.row)
        #expect(row.expires == 3_602_000 && row.policy.lastModified != nil && row.policy.isReusable)
        var later = PartitionStateTests.Driver(sent: now)
        later.stored = SourceSnapshot(source: row, variants: task.renewed)
        let again = later.pending("again", source, [PartitionStateTests.small])
        #expect(rules.kinds(later.feed(.arrived(again), at: 3_000)) == [.unchanged])
    }

    @Test("A yes that is fresh for no time is told of every row: rows say that they are fresh")
    func confirmedForNoTime() throws {
        var driver = PartitionStateTests.Driver(sent: try Self.sent("other/2"))
        driver.stored = try stored("max-age=3600", vary: "User-Agent", to: try Self.sent("one/1"))
        let id = try #require(
            rules.flight(driver.feed(.arrived(driver.pending("j", source, [PartitionStateTests.small])), at: 1_000)))
        _ = driver.feed(.granted(.fetch, id), at: 1_000)
        var yes = ResponseHead()
        yes.sent = try Self.sent("other/2").all(for: Self.url)
        yes.fields = ResponseFields([("cache-control", "no-cache")])
        _ = driver.feed(.notModified(id, yes), at: 2_000)
        let task = try #require(rules.renderTask(driver.feed(.granted(.render, id), at: 2_000)))
        #expect(task.renewed.count == 2 && task.renewed.allSatisfy { $0.expires <= 2_000 })
    }

    @Test("It stands in for nothing: neither while it is asked for again nor while its origin is down, nor for `auto`")
    func noStandIn() throws {
        let now = try Self.sent("other/2")
        for (sent, answers) in [(now, true), (try Self.sent("one/1"), false)] {
            var driver = PartitionStateTests.Driver(sent: now)
            driver.stored = try stored("max-age=60, stale-while-revalidate=600", vary: "User-Agent", to: sent)
            let first = driver.pending("swr", source, [PartitionStateTests.small])
            #expect((outcome(driver.feed(.arrived(first), at: 61_000)) != nil) == answers)
            var down = PartitionStateTests.Driver(sent: now)
            down.stored = try stored("max-age=60", vary: "User-Agent", to: sent)
            let effects = try failing(job(&down, "j", [PartitionStateTests.small], .degraded), &down, at: 61_000)
            #expect((outcome(effects) != nil) == answers)
            var open = PartitionStateTests.Driver(sent: now)
            open.stored = try stored("max-age=60", vary: "User-Agent", to: sent)
            let auto = open.pending("auto", source, [try VariantSpec("300x300.auto")])
            #expect(kind(open.feed(.arrived(auto), at: 1_000)) == (answers ? .render : .fetch))
        }
    }
}
