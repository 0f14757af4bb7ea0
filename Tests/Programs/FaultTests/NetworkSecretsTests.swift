import Failures
import Foundation
import Glibc
import ImageModel
import Ports
import Records
import TestSupport
import TestWorkplace
import Testing

@Suite("What the worker's network is like, and what its environment says, stays out of reach", .timeLimit(.minutes(3)))
struct NetworkSecretsTests {
    @Test("Outcomes do not tell a denied address from an unknown name, a shut port or one where something else listens")
    func outcomes() async throws {
        let place = try Workplace("fetch.allow=127.0.0.2/32", "retry.attempts=2", "fetch.timeouts.connect=1s")
        let banner = try BrokenOrigin(on: "127.0.0.2", .answer("SSH-2.0-OpenSSH_9.2\r\n"))
        let shut = try BrokenOrigin(on: "127.0.0.2", .silence).port
        let urls = [
            "http://localhost:8080/a.png", "http://mezzotint.invalid/a.png", "http://127.0.0.2:\(shut)/a.png",
            banner.url(),
            banner.url().replacing("http:", with: "https:"),
        ]
        try place.publish(urls.map { ($0, ["10x10.png"], .fast) })
        let worker = try place.worker([])
        let ended = try await worker.ended()
        let outcomes = try await place.outcomes()
        #expect(outcomes.count == urls.count)
        for outcome in outcomes {
            #expect(outcome.kind == .dead && outcome.attempts == 0 && outcome.failure?.code == "fetch.unreachable")
            #expect(outcome.failure?.message == outcomes[0].failure?.message)
        }
        // Whoever runs the worker is told.
        for code in ["fetch.refused-name", "fetch.connection"] { #expect(ended.errors.contains(code)) }
        let deadLetters = try await place.records(.dead).map { try DeadLetter($0) }
        #expect(
            deadLetters.contains { $0.cause.code == "fetch.refused-name" && $0.cause.message.contains("leads to ") })
        for record in try await place.records(.outcomes) {
            let text = String(decoding: record.value ?? [], as: UTF8.self)
            #expect(!text.contains("127.0.0.1") && !text.contains("took too long") && !text.contains("connect"))
        }
    }

    @Test("Nor do they by how often it was tried: a shut port, a silent one and TLS with either end alike")
    func attempts() async throws {
        let place = try Workplace(
            "fetch.allow=127.0.0.2/32", "retry.attempts=0", "fetch.timeouts.dns=500ms",
            "fetch.timeouts.connect=500ms", "fetch.timeouts.firstByte=500ms", "fetch.timeouts.total=500ms",
            "origins.breaker.failures=3", "origins.breaker.pause=100ms")
        let silent = try BrokenOrigin(on: "127.0.0.2", .silence)
        let shut = try BrokenOrigin(on: "127.0.0.2", .silence).port
        let urls = ["http://127.0.0.2:\(shut)/a.png", silent.url("/a.png"), "http://mezzotint.invalid/a.png"]
        let jobs = (urls + urls.map { $0.replacing("http:", with: "https:") }).enumerated().map { number, url in
            #"{"url":"\#(url)","variants":["10x10.png"],"lane":"\#(number % 2 == 0 ? "fast" : "slow")","id":"\#(number)","retryFor":2000}"#
        }
        #expect(try place.run("publish", "-", input: jobs.joined(separator: "\n")).status == 0)
        #expect(try await place.worker([]).ended().status == 0)
        let told = try await place.records(.outcomes).map { record in
            let text = String(decoding: record.value ?? [], as: UTF8.self)
            return text.replacing(/"(job|source|url|lane|at)":("[^"]*"|\d+),?/, with: "")
        }
        #expect(told.count == jobs.count && Set(told).count == 1, "\(told)")
        // They were not tried equally often.
        let tried = try await place.records(.dead).map { try DeadLetter($0).attempts }
        #expect(Set(tried).count > 1, "\(tried)")
    }

    @Test("No variable that libcurl or OpenSSL obeys is in the worker's reach")
    func environment() async throws {
        let place = try Workplace("retry.attempts=1", "fetch.timeouts.connect=1s")
        let proxy = try BrokenOrigin(.answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy"))
        let noTLS = try BrokenOrigin(.answer("no TLS"))
        // Who opens one of these to read waits for ever.
        let trap = place.folder.file("trap")
        try #require(mkfifo(trap, 0o600) == 0 && mkfifo(place.folder.file(".netrc"), 0o600) == 0)
        let keys = place.folder.file("keys")
        var environment = [
            "OPENSSL_CONF": trap, "OPENSSL_MODULES": trap, "SSL_CERT_FILE": trap, "SSL_CERT_DIR": trap,
            "SSLKEYLOGFILE": keys, "CURL_CA_BUNDLE": trap, "CURL_HOME": place.folder.url.path, "NETRC": trap,
            "HOME": place.folder.url.path,
        ]
        for name in ["http_proxy", "https_proxy", "all_proxy"] {
            environment[name] = proxy.url()
            environment[name.uppercased()] = proxy.url()
        }
        let urls = place.draw(1) + [noTLS.url().replacing("http:", with: "https:")]
        try place.publish(urls.map { ($0, ["10x10.png"], .fast) })
        let worker = try place.worker([], environment: environment)
        let ended = try await worker.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try await place.outcomes().map(\.kind.rawValue).sorted() == ["dead", "stored"])
        #expect(proxy.connectionCount == 0 && noTLS.connectionCount > 0)
        #expect(!FileManager.default.fileExists(atPath: keys))
    }
}
