import HTTPCache
import ImageModel
import Ports
import Synchronization
import TestSupport
import Testing

@testable import Origin

/// What an origin reads from the socket, byte for byte.
@Suite("Request lines", .timeLimit(.minutes(1)))
struct RequestLineTests {
    /// The requests that came, and what `/start` leads to.
    private final class Book: Sendable {
        let requests = Mutex<[[UInt8]]>([])

        var targets: [String] {
            requests.withLock { requests in
                requests.map { request in
                    let line = request.prefix { $0 != 13 }
                    return line.map { (0x20..<0x7F).contains($0) ? String(UnicodeScalar($0)) : "<\($0)>" }.joined()
                }
            }
        }
    }

    private let book = Book()

    private func origin(redirectingTo location: [UInt8] = []) throws -> BrokenOrigin {
        try BrokenOrigin(
            .scripted { [book] request in
                book.requests.withLock { $0.append(request) }
                if request.starts(with: "GET /start ".utf8) {
                    let head = Array("HTTP/1.1 302 Found\r\nLocation: ".utf8) + location
                    return .answer(head + Array("\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8))
                }
                let isKnown = String(decoding: request, as: UTF8.self).contains("If-None-Match: \"t\"")
                return .answer(
                    "HTTP/1.1 \(isKnown ? "304 Not Modified" : "200 OK")\r\nETag: \"t\"\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
                        + (isKnown ? "" : "abc"))
            })
    }

    @Test(
        "Hold no byte that origins refuse, whatever the job's URL holds",
        arguments: [
            ("/p.png?name=ä", "GET /p.png?name=%C3%A4 HTTP/1.1"), ("/ä.png", "GET /%C3%A4.png HTTP/1.1"),
            ("/a|b^c`d{e}f\"g<h>.png", "GET /a%7Cb%5Ec%60d%7Be%7Df%22g%3Ch%3E.png HTTP/1.1"),
            ("/a?b=\"<c>'", "GET /a?b=%22%3Cc%3E%27 HTTP/1.1"), ("/%e4%2F?%e4", "GET /%e4%2F?%e4 HTTP/1.1"),
            ("/a/../b", "GET /a/../b HTTP/1.1"),
        ])
    func job(path: String, line: String) async throws {
        let origin = try origin()
        let request = FetchRequest(url: origin.url(path), lane: .fast)
        let source = try await GuardedFetcher.ofLoopback().source(request)
        var known = CachePolicy(source.head.fields, sent: source.head.sent, now: 0)
        known.location = source.head.location
        let again = FetchRequest(url: request.url, lane: .fast, known: known)
        guard case .notModified = try await GuardedFetcher.ofLoopback().fetch(again) else {
            Issue.record("a conditional request is another one")
            return
        }
        #expect(book.targets == [line, line])
    }

    @Test(
        "So do those of redirects, however their target is spelled",
        arguments: [
            ("/é b?c d|", "GET /%C3%A9%20b?c%20d| HTTP/1.1"), ("a|b?é", "GET /a%7Cb?%C3%A9 HTTP/1.1"),
            ("http://127.0.0.1:PORT/é b?é", "GET /%C3%A9%20b?%C3%A9 HTTP/1.1"),
            ("//127.0.0.1:PORT/{é}", "GET /%7B%C3%A9%7D HTTP/1.1"), ("\\a\\b?\\", "GET /a/b?\\ HTTP/1.1"),
            ("/%zz%?%", "GET /%zz%?% HTTP/1.1"), ("/a\tb", "GET /ab HTTP/1.1"),
        ])
    func redirects(location: String, line: String) async throws {
        // The port is known only once the origin is there: the second of two leads nowhere but to the first.
        let end = try origin()
        let target = location.replacing("PORT", with: "\(end.port)")
        let origin = try origin(redirectingTo: Array(target.utf8))
        _ = try await GuardedFetcher.ofLoopback().source(FetchRequest(url: origin.url("/start"), lane: .fast))
        #expect(book.targets == ["GET /start HTTP/1.1", line])
    }

    @Test("Bytes of a redirect that are not UTF-8 are escaped as they are")
    func latin1() async throws {
        let origin = try origin(redirectingTo: Array("/p".utf8) + [0xE4] + Array("?".utf8) + [0xFC])
        _ = try await GuardedFetcher.ofLoopback().source(FetchRequest(url: origin.url("/start"), lane: .fast))
        #expect(book.targets == ["GET /start HTTP/1.1", "GET /p%E4?%FC HTTP/1.1"])
    }
}
