import Canonical
import Digest
import Failures
import HTTP
import ImageModel
import Ports
import Posix
import Synchronization
import TestSupport
import Testing

@testable import Origin

@Suite("Fetching a source", .timeLimit(.minutes(1)))
struct GuardedFetcherTests {
    let origin: LocalOrigin

    init() throws { origin = try LocalOrigin() }

    private func fetch(_ url: String, _ fetcher: GuardedFetcher = .ofLoopback()) async throws(FetchFailure)
        -> FetchedSource
    {
        try await fetcher.source(FetchRequest(url: url, lane: .fast))
    }

    @Test("The caller hears once that a long body is nearly complete", arguments: [(1_000_000, 1), (10_000, 0)])
    func nearlyDone(bytes: Int, calls: Int) async throws {
        let origin = try LocalOrigin()
        origin.serve("/a", .bytes(Bytes.pattern(bytes)))
        let heard = Mutex(0)
        let request = FetchRequest(url: origin.url("/a"), lane: .fast)
        guard case .source(let source) = try await GuardedFetcher.ofLoopback().fetch(request, nearlyDone: { heard.withLock { $0 += 1 } })
        else { return }
        #expect(source.bytes == bytes && heard.withLock { $0 } == calls)
    }

    @Test(
        "The bytes come whole, with their digest, in a file that nobody can change", arguments: [1, 16_384, 3_000_001])
    func bytes(count: Int) async throws {
        let bytes = Bytes.pattern(count)
        origin.serve("/a.jpg", .bytes(bytes, type: "image/jpeg"))
        let source = try await fetch(origin.url("/a.jpg"))
        #expect(try source.body.allBytes() == bytes)
        #expect(source.digest == SHA256.digest(of: bytes))
        #expect(source.version == SourceVersion(SHA256.digest(of: bytes)))
        #expect(throws: (any Error).self) { try source.body.append([1]) }
    }

    @Test(
        "The URL goes out as it came",
        arguments: [
            "/a/../b/./c.jpg", "/a%2Fb%7e.jpg?x=%41&&y", "//double//", "/p?imageView&thumbnail=80x80&type=webp",
        ])
    func verbatim(path: String) async throws {
        let seen = try LocalOrigin()
        seen.serve(path, .bytes([7]))
        #expect(try await fetch(seen.url(path)).body.length == 1)
    }

    @Test("Hosts of a group are asked with its headers, and the target of a redirect with its own alone")
    func headers() async throws {
        let seen = Mutex<[String]>([])
        let asked = { @Sendable (request: [UInt8]) in
            seen.withLock { $0.append(String(decoding: request, as: UTF8.self)) }
        }
        let end = try BrokenOrigin(
            .scripted {
                asked($0)
                return .answer("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
            })
        let start = try BrokenOrigin(
            .scripted {
                asked($0)
                return .answer(
                    "HTTP/1.1 302 Found\r\nLocation: http://localhost:\(end.port)/\r\nContent-Length: 0\r\n\r\n")
            })
        var configuration = OriginConfiguration.loopback
        configuration.sent.groups = [
            (
                try OriginGroup(name: "cdn", hosts: ["127.0.0.1"], hasHeaders: true),
                [("Authorization", "Bearer hush"), ("X-A", "b")]
            )
        ]
        _ = try await fetch(start.url(), GuardedFetcher(configuration))
        let requests = seen.withLock { $0 }
        #expect(requests.count == 2)
        #expect(requests[0].contains("\r\nAuthorization: Bearer hush\r\n") && requests[0].contains("\r\nX-A: b\r\n"))
        #expect(!requests[1].contains("hush") && !requests[1].contains("X-A"))
    }

    @Test(
        "A status tells for how long its host wants to be left alone",
        arguments: [("30", 30_000), ("never", nil), ("0", nil), ("1000000", 86_400_000)] as [(String, Duration?)])
    func retryAfter(said: String, wait: Duration?) async throws {
        origin.serve("/a.jpg", .status(503, headers: [("Retry-After", said)], body: []))
        let url = origin.url("/a.jpg")
        await #expect(throws: FetchFailure.status(url: SourceURL(url), 503, retryAfter: wait)) {
            _ = try await fetch(url)
        }
    }

    @Test(
        "A status that is no success says which",
        arguments: [
            (status: 404, code: "fetch.not-found", verdict: Verdict.fail),
            (status: 410, code: "fetch.not-found", verdict: .fail),
            (status: 403, code: "fetch.forbidden", verdict: .fail),
            (status: 401, code: "fetch.forbidden", verdict: .fail),
            (status: 429, code: "fetch.too-many-requests", verdict: .retry),
            (status: 408, code: "fetch.request-timeout", verdict: .retry),
            (status: 500, code: "fetch.server-error", verdict: .retry),
            (status: 503, code: "fetch.server-error", verdict: .retry),
            (status: 204, code: "fetch.status", verdict: .fail), (status: 206, code: "fetch.status", verdict: .fail),
            (status: 201, code: "fetch.status", verdict: .fail),
            (status: 304, code: "fetch.not-modified", verdict: .fail),
            (status: 300, code: "fetch.status", verdict: .fail), (status: 302, code: "fetch.status", verdict: .fail),
        ])
    func status(status: Int, code: String, verdict: Verdict) async throws {
        origin.serve("/", .status(status, headers: [], body: []))
        let failure = await #expect(throws: FetchFailure.self) { try await fetch(origin.url("/")) }
        #expect(failure?.code == code)
        #expect(failure?.verdict == verdict)
    }

    @Test("An error page of any length is an answer like a short one")
    func longErrorPage() async throws {
        origin.serve("/", .status(404, headers: [], body: Bytes.pattern(40_000_000)))
        await #expect(throws: FetchFailure.status(url: SourceURL(origin.url("/")), 404)) {
            try await fetch(origin.url("/"))
        }
    }

    @Test("A body over the limit is refused, declared or not")
    func tooLarge() async throws {
        var configuration = OriginConfiguration.loopback
        configuration.settings.byteLimit = 100_000
        let fetcher = GuardedFetcher(configuration)
        origin.serve("/declared", .bytes(Bytes.pattern(100_001)))
        origin.serve("/exact", .bytes(Bytes.pattern(100_000)))
        let endless = try BrokenOrigin(
            .answer(Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8) + Bytes.pattern(200_000)))
        for url in [origin.url("/declared"), endless.url()] {
            await #expect(throws: FetchFailure.tooLarge(url: SourceURL(url), limit: 100_000)) {
                try await fetch(url, fetcher)
            }
        }
        #expect(try await fetch(origin.url("/exact"), fetcher).body.length == 100_000)
        #expect(fetcher.budget.used == 0)
    }

    @Test(
        "Broken answers each have their name",
        arguments: [
            (answer: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", code: "fetch.truncated"),
            (answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc", code: "fetch.truncated"),
            (answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", code: "fetch.empty"),
            (
                answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
                code: "fetch.encoded"
            ),
            (answer: "HTTP/1.1 200 OK\r\nContent-Encoding: BR\r\nContent-Length: 3\r\n\r\nabc", code: "fetch.encoded"),
            (
                answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
                code: "fetch.encoded"
            ),
            (answer: "SSH-2.0-OpenSSH_9.2\r\n", code: "fetch.connection"),
            (answer: "", code: "fetch.connection"),
            (answer: "HTTP/1.1 200 OK\r\nContent-Le", code: "fetch.connection"),
        ])
    func broken(answer: String, code: String) async throws {
        let broken = try BrokenOrigin(.answer(answer))
        let failure = await #expect(throws: FetchFailure.self) { try await fetch(broken.url()) }
        #expect(failure?.code == code)
    }

    @Test("Identity is a coding that changes nothing")
    func identity() async throws {
        origin.serve("/", .status(200, headers: [("Content-Encoding", "identity")], body: [1, 2]))
        #expect(try await fetch(origin.url("/")).body.length == 2)
    }

    @Test(
        "What cannot be a fetch URL is refused without a connection",
        arguments: [
            "file:///etc/passwd", "ftp://127.0.0.1/", "127.0.0.1/a.jpg", "", "http:/127.0.0.1/", "gopher://127.0.0.1/",
            "http://user@127.0.0.1/", "http://", "http:///path", "javascript:alert(1)", "http://127.0.0.1/a b",
        ])
    func invalid(url: String) async throws {
        await #expect(throws: FetchFailure.invalidURL(SourceURL(url))) { try await fetch(url) }
    }

    @Test("A name without an address is tried again later")
    func unresolved() async throws {
        for host in ["mezzotint.invalid", "bücher.invalid"] {
            let failure = await #expect(throws: FetchFailure.self) { try await fetch("http://\(host)/a.jpg") }
            #expect(["fetch.resolution", "fetch.deadline"].contains(failure?.code))
        }
    }

    @Test("Two hundred at once all come, over few connections")
    func many() async throws {
        for i in 0..<200 { origin.serve("/\(i)", .bytes(Bytes.pattern(1000 + i))) }
        let fetcher = GuardedFetcher.ofLoopback()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for i in 0..<200 {
                group.addTask {
                    let source = try await fetch(origin.url("/\(i)"), fetcher)
                    #expect(source.digest == SHA256.digest(of: Bytes.pattern(1000 + i)))
                }
            }
            try await group.waitForAll()
        }
        #expect(origin.requestCount == 200)
        #expect(origin.connectionCount <= 16)
    }
}
