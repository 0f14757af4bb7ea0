import Canonical
import Clocks
import Failures
import HTTP
import HTTPCache
import ImageModel
import Ports
import Posix
import TestSupport
import Testing

@testable import Origin

@Suite("Redirects", .timeLimit(.minutes(1)))
struct RedirectTests {
    let origin: LocalOrigin

    init() throws {
        origin = try LocalOrigin()
        origin.serve("/end", .bytes([1, 2, 3]))
    }

    private func fetch(_ url: String, _ fetcher: GuardedFetcher = .ofLoopback()) async throws(FetchFailure)
        -> FetchedSource
    {
        try await fetcher.source(FetchRequest(url: url, lane: .fast))
    }

    private func chain(_ count: Int) -> String {
        for i in 1..<max(2, count) { origin.serve("/\(i)", .redirect(origin.url("/\(i + 1)"))) }
        origin.serve("/\(count)", .redirect(origin.url("/end")))
        return origin.url("/1")
    }

    @Test("Five are followed, a sixth is refused")
    func count() async throws {
        #expect(try await fetch(chain(5)).body.length == 3)
        let url = chain(6)
        await #expect(throws: FetchFailure.redirects(url: SourceURL(url), limit: 5)) { try await fetch(url) }
    }

    @Test("What the redirects say of caching comes with what is at their end")
    func caching() async throws {
        origin.serve("/start", .status(301, headers: [("Location", "/next")], body: []))
        origin.serve(
            "/next", .status(302, headers: [("Location", "/end"), ("Cache-Control", "max-age=60")], body: []))
        let head = try await fetch(origin.url("/start")).head
        #expect(head.hops.count == 2)
        let fresh = head.hops.freshUntil(.distantFuture, FreshnessRules(), place: 0) - SystemTime.wall
        #expect((1...60_000).contains(fresh))
    }

    @Test("Every kind is followed", arguments: [301, 302, 303, 307, 308])
    func kinds(status: Int) async throws {
        origin.serve("/start", .redirect(origin.url("/end"), status: status))
        #expect(try await fetch(origin.url("/start")).body.length == 3)
    }

    @Test("The body of a redirect is not wanted, however long it is", arguments: [1, 65_536, 65_537, 3_000_000])
    func bodies(length: Int) async throws {
        let headers = [("Location", "/end")]
        origin.serve("/start", .status(302, headers: headers, body: Bytes.pattern(length)))
        #expect(try await fetch(origin.url("/start")).body.length == 3)
    }

    @Test(
        "A redirect whose body never ends is followed",
        arguments: ["Content-Length: 70000", "Transfer-Encoding: chunked"])
    func endless(length: String) async throws {
        let chunk = "10000\r\n" + String(repeating: "x", count: 65_536) + "\r\n1\r\nx\r\n"
        let endless = try BrokenOrigin(
            .stall("HTTP/1.1 302 Found\r\nLocation: \(origin.url("/end"))\r\n\(length)\r\n\r\n\(chunk)"))
        #expect(try await fetch(endless.url()).body.length == 3)
    }

    @Test(
        "A relative target stands beside what it was said by",
        arguments: [
            (from: "/a/b/start", to: "../../end"), (from: "/a/start", to: "/end"), (from: "/start?q=1", to: "end"),
            (from: "/start", to: "//127.0.0.1:PORT/end"), (from: "/start", to: "end#fragment"),
        ])
    func relative(from: String, to: String) async throws {
        origin.serve(from, .redirect(to.replacing("PORT", with: "\(origin.port)")))
        #expect(try await fetch(origin.url(from)).body.length == 3)
    }

    @Test(
        "Redirects to other URLs than http and https are not followed",
        arguments: [
            "file:///etc/passwd", "ftp://127.0.0.1/a", "gopher://127.0.0.1:25/", "http://user:secret@127.0.0.1/end",
            "http://", "javascript:1", "dict://127.0.0.1:11211/stat", "http://[::1", "http://127.0.0.1:70000/",
        ])
    func badTargets(target: String) async throws {
        origin.serve("/start", .redirect(target))
        let failure = await #expect(throws: FetchFailure.self) { try await fetch(origin.url("/start")) }
        #expect(failure?.code == "fetch.bad-redirect")
        #expect(origin.requestCount == 1)
    }

    @Test(
        "The user and password of a redirect's target reach no message",
        arguments: [
            "http://me:secret@127.0.0.1/a", "ftp://me:secret@127.0.0.1/a", "http:me:secret@127.0.0.1",
            "//me:sec/secret@h/",
        ])
    func secretTargets(target: String) async throws {
        origin.serve("/start", .redirect(target))
        let failure = await #expect(throws: FetchFailure.self) { try await fetch(origin.url("/start")) }
        #expect(failure?.code == "fetch.bad-redirect")
        #expect(failure?.description.contains("@127.0.0.1") == true || failure?.description.contains("@h/") == true)
        #expect(failure?.description.contains("secret") == false)
        #expect(failure?.description.contains("me:") == false)
    }

    @Test("A private address behind a redirect is never connected to")
    func privateTarget() async throws {
        let inside = try BrokenOrigin(on: "127.0.0.2", .answer("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret"))
        origin.serve("/start", .redirect(inside.url()))
        await #expect(throws: FetchFailure.refusedAddress(url: SourceURL(origin.url("/start")), address: "127.0.0.2")) {
            try await fetch(origin.url("/start"))
        }
        #expect(inside.connectionCount == 0)
    }

    @Test("A circle ends at the limit, through one host or two", arguments: [false, true])
    func circle(isOfTwo: Bool) async throws {
        let other = try LocalOrigin()
        let start = origin.url("/start")
        origin.serve("/start", .redirect(isOfTwo ? "http://localhost:\(other.port)/back" : "/start"))
        other.serve("/back", .redirect(start))
        await #expect(throws: FetchFailure.redirects(url: SourceURL(start), limit: 5)) { try await fetch(start) }
        #expect(origin.requestCount == (isOfTwo ? 3 : 6) && other.requestCount == (isOfTwo ? 3 : 0))
    }

    @Test("It is an answer: where it leads is asked by a request of its own, if it may be asked at all")
    func answer() async throws {
        let other = try LocalOrigin()
        origin.serve("/start", .redirect(other.url("/a?b#c")))
        let request = FetchRequest(url: SourceURL(origin.url("/start")), lane: .fast)
        guard case .redirected(let next) = try await GuardedFetcher.ofLoopback().fetch(request) else {
            Issue.record("no redirect")
            return
        }
        #expect(next.host == OriginHost(of: other.url("/")) && next.hop == 1 && next.spent > .zero)
        #expect(other.requestCount == 0)
        origin.serve("/start", .redirect("http://192.0.2.1/"))
        await #expect(throws: FetchFailure.refusedAddress(url: request.url, address: "192.0.2.1")) {
            try await GuardedFetcher.ofLoopback().fetch(request)
        }
    }

    @Test("All hops share one deadline")
    func deadline() async throws {
        // The last hop is silent: it has what the first left of the whole, though its own first byte may take longer.
        let silent = try BrokenOrigin(.silence)
        origin.serve("/start", .redirect(silent.url()))
        var configuration = OriginConfiguration.loopback
        configuration.settings.deadlines.whole = .milliseconds(300)
        let failure = await #expect(throws: FetchFailure.self) {
            try await fetch(origin.url("/start"), GuardedFetcher(configuration))
        }
        #expect(failure == .deadline(url: SourceURL(origin.url("/start")), phase: "the transfer as a whole"))
    }
}
