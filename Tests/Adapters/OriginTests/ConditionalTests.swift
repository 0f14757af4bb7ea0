import Canonical
import Failures
import HTTPCache
import ImageModel
import Ports
import TestSupport
import Testing

@testable import Origin

@Suite("Fetching: what is known already", .timeLimit(.minutes(1)))
struct ConditionalTests {
    private let origin: LocalOrigin
    private let tag = "\"one\""

    init() throws {
        origin = try LocalOrigin()
        origin.serve("/a", .tagged([1, 2, 3], type: "image/png", tag: tag, headers: [("Cache-Control", "max-age=60")]))
    }

    private func ask(_ path: String, _ known: CachePolicy? = nil) async throws(FetchFailure) -> FetchResponse {
        try await GuardedFetcher.ofLoopback().follow(
            FetchRequest(url: .init(origin.url(path)), lane: .fast, known: known))
    }

    private func policy(_ head: ResponseHead) -> CachePolicy {
        var policy = CachePolicy(head.fields, sent: head.sent, now: 0)
        policy.location = head.location
        return policy
    }

    private func head(_ answer: FetchResponse) -> ResponseHead {
        switch answer {
        case .source(let source): source.head
        case .notModified(let head), .refused(_, let head): head
        case .redirected: ResponseHead()
        }
    }

    @Test("An origin sees who asks, what is accepted, and what is known, and nothing else")
    func headers() async throws {
        let first = head(try await ask("/a"))
        #expect(first.fields.single("cache-control") == "max-age=60" && first.fields.single("content-type") == nil)
        guard case .notModified(let second) = try await ask("/a", policy(first)) else {
            Issue.record("a body came")
            return
        }
        #expect(second.fields.single("etag") == tag)
        var known = policy(first)
        known = CachePolicy(etag: known.etag, lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
        _ = try await ask("/a", known)
        let names = origin.headers(of: "/a").map { Set($0.keys) }
        let always: Set = ["host", "user-agent", "accept", "accept-encoding"]
        #expect(
            names == [
                always, always.union(["if-none-match"]), always.union(["if-none-match", "if-modified-since"]),
            ])
        #expect(origin.headers(of: "/a").allSatisfy { $0["accept-encoding"] == "identity" && $0["accept"] == "*/*" })
    }

    @Test("304 to who asked for the whole, and 304 of another tag")
    func unasked() async throws {
        origin.serve("/304", .status(304, headers: [], body: []))
        let failure = await #expect(throws: FetchFailure.self) { try await ask("/304") }
        #expect(failure?.code == "fetch.not-modified" && failure?.verdict == .fail)
        let other = LocalOrigin.Answer.status(304, headers: [("ETag", "\"two\"")], body: [])
        origin.serve("/b", other, .tagged([4], type: "image/png", tag: "\"two\"", headers: []))
        guard case .source(let source) = try await ask("/b", CachePolicy(etag: tag)) else {
            Issue.record("what is not known was confirmed")
            return
        }
        #expect(source.bytes == 1 && origin.headers(of: "/b").map { $0["if-none-match"] } == [tag, nil])
    }

    @Test("Validators go to the URL that gave them, at the end of its redirects")
    func redirects() async throws {
        origin.serve("/to", .redirect(origin.url("/a")))
        let first = head(try await ask("/to"))
        #expect(first.location == origin.url("/a"))
        guard case .notModified(let second) = try await ask("/to", policy(first)) else {
            Issue.record("a body came")
            return
        }
        #expect(second.location == first.location)
        #expect(origin.headers(of: "/to").allSatisfy { $0["if-none-match"] == nil })
        // Now it leads to something else, whose tag is the same by chance.
        origin.serve("/c", .tagged([9, 9], type: "image/png", tag: tag, headers: []))
        origin.serve("/to", .redirect(origin.url("/c")))
        guard case .source(let source) = try await ask("/to", policy(first)) else {
            Issue.record("another URL confirmed it")
            return
        }
        #expect(source.bytes == 2)
    }
}
