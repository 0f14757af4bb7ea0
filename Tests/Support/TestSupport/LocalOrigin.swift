package import Foundation
internal import Synchronization
internal import WebServer

/// A proper origin on 127.0.0.1: files of a folder, or what a test scripts for a path. Ends with the value.
package final class LocalOrigin: Sendable {
    package enum Answer: Sendable {
        case bytes([UInt8], type: String)
        case file(path: String)
        case status(Int, headers: [(String, String)], body: [UInt8])
        /// Who says that they have the tag are told that nothing has changed.
        case tagged([UInt8], type: String, tag: String, headers: [(String, String)])
        /// The answer comes once the gate is open.
        indirect case gated(Gate, Answer)
        /// The answer comes after this time.
        indirect case taking(Duration, Answer)

        package static func bytes(_ bytes: [UInt8]) -> Answer { .bytes(bytes, type: "image/jpeg") }
        package static func status(_ status: Int) -> Answer {
            .status(status, headers: [], body: Array("\(status)".utf8))
        }
        package static func redirect(_ location: String, status: Int = 302) -> Answer {
            .status(status, headers: [("Location", location)], body: [])
        }
    }

    private struct Script {
        var answers: [Answer]
        var isRound = false
        var next = 0
    }

    private final class Book: Sendable {
        let scripts = Mutex<[String: Script]>([:])
        let counts = Mutex<[String: Int]>([:])
        let headers = Mutex<[String: [[String: String]]]>([:])
        let order = Mutex<[String]>([])
        /// Answers that take their time: now, and the most at once.
        let taking = Mutex<(now: Int, most: Int)>((0, 0))
    }

    private let book = Book()
    private let server: WebServer
    package var port: Int { server.port }
    package var requestCount: Int { server.requestCount }
    package var connectionCount: Int { server.connectionCount }

    /// `folder`: what stands behind paths that have no script.
    package init(folder: URL? = nil) throws {
        let root = folder?.path
        server = try WebServer(port: 0) { [book] request in
            book.counts.withLock { $0[request.path, default: 0] += 1 }
            book.order.withLock { $0.append(request.path) }
            book.headers.withLock { $0[request.path, default: []].append(request.headers) }
            let answer = book.scripts.withLock { scripts -> Answer? in
                let name = scripts[request.target] == nil ? request.path : request.target
                guard let script = scripts[name] else { return nil }
                let count = script.answers.count
                scripts[name]?.next = script.isRound ? (script.next + 1) % count : min(script.next + 1, count - 1)
                return script.answers[script.next]
            }
            if let answer { return Self.response(answer, to: request, book) }
            guard let root, !request.path.contains("..") else { return .notFound }
            return WebServer.Response(.file(path: root + request.path))
        }
    }

    deinit { server.stop() }

    /// What a path (with its query, or without) is answered, in turn; the last answer stays.
    package func serve(_ path: String, _ answers: Answer...) {
        book.scripts.withLock { $0[path] = Script(answers: answers) }
    }

    /// The same, and after the last answer the first again.
    package func serve(_ path: String, byTurns answers: [Answer]) {
        book.scripts.withLock { $0[path] = Script(answers: answers, isRound: true) }
    }

    package func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(port)\(path)" }

    /// How often a path was asked for, its query left out.
    package func requests(of path: String) -> Int { book.counts.withLock { $0[path] ?? 0 } }

    /// The paths of all requests, in the order in which they came.
    package var order: [String] { book.order.withLock { $0 } }

    /// The most answers at once that took their time.
    package var mostAtOnce: Int { book.taking.withLock { $0.most } }

    /// What each request for a path said of itself, names in lower case.
    package func headers(of path: String) -> [[String: String]] { book.headers.withLock { $0[path] ?? [] } }

    package func stop() { server.stop() }

    private static func response(
        _ answer: Answer, to request: WebServer.Request, _ book: Book
    ) -> WebServer.Response {
        switch answer {
        case .bytes(let bytes, let type): WebServer.Response(type: type, bytes)
        case .file(let path): WebServer.Response(.file(path: path))
        case .status(let status, let headers, let body):
            WebServer.Response(status: status, headers: headers.map { (name: $0.0, value: $0.1) }, .bytes(body))
        case .tagged(let bytes, let type, let tag, let headers):
            if request.headers["if-none-match"] == tag {
                WebServer.Response(
                    status: 304, headers: ([("ETag", tag)] + headers).map { (name: $0.0, value: $0.1) }, .bytes([]))
            } else {
                WebServer.Response(
                    status: 200,
                    headers: ([("ETag", tag), ("Content-Type", type)] + headers).map { (name: $0.0, value: $0.1) },
                    .bytes(bytes))
            }
        case .gated(let gate, let answer):
            WebServer.Response(
                .later {
                    await gate.wait()
                    return response(answer, to: request, book)
                })
        case .taking(let time, let answer):
            WebServer.Response(
                .later {
                    book.taking.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    try? await Task.sleep(for: time)
                    book.taking.withLock { $0.now -= 1 }
                    return response(answer, to: request, book)
                })
        }
    }
}
