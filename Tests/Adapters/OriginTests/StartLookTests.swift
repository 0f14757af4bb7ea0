import HTTPCache
import ImageModel
import Images
import Ports
import Posix
import Synchronization
import TestSupport
import Testing

@testable import Origin

@Suite("Fetching a source: its first bytes are looked at before the rest comes", .timeLimit(.minutes(1)))
struct StartLookTests {
    private static let failure = RenderFailure.tooManyScans(limit: 1)

    private func fetch(
        _ url: String, judge: @escaping @Sendable (OpenFile) async -> StartFinding
    ) async throws -> FetchResponse {
        try await GuardedFetcher(.loopback, judge: judge).fetch(FetchRequest(url: .init(url), lane: .fast))
    }

    /// Before, all 30 MB came.
    @Test(
        "A body whose first bytes say that it can't be rendered ends there, with what its head said",
        arguments: [true, false])
    func refused(isLengthTold: Bool) async throws {
        let length = isLengthTold ? "Content-Length: 30000000" : "Connection: close"
        let origin = try BrokenOrigin(
            .flood("HTTP/1.1 200 OK\r\n\(length)\r\nETag: \"a\"\r\n\r\n", String(repeating: "x", count: 1_000)))
        let seen = Mutex<[Int]>([])
        let answer = try await fetch(origin.url()) { file in
            seen.withLock { $0.append(file.length) }
            return .useless(Self.failure)
        }
        guard case .refused(let failure, let head) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(failure == Self.failure && head.fields.single("etag") == "\"a\"")
        #expect(seen.withLock { $0 } == [StartLook.bytes])
        // What both sockets hold beside it.
        #expect(origin.bytesFlooded < 12 << 20, "\(origin.bytesFlooded)")
    }

    @Test(
        "A useful body comes whole; a small one is not looked at, and one that shows no size is looked at once more",
        arguments: [
            (9_000_001, StartFinding.useful, [StartLook.bytes]), (900_000, .unknown, []),
            (9_000_001, .unknown, [StartLook.bytes, StartLook.moreBytes]), (8_000_000, .unknown, [StartLook.bytes]),
        ])
    func useful(count: Int, finding: StartFinding, looks: [Int]) async throws {
        let bytes = Bytes.pattern(count)
        let origin = try LocalOrigin()
        origin.serve("/a", .bytes(bytes))
        let seen = Mutex<[[UInt8]]>([])
        let answer = try await fetch(origin.url("/a")) { file in
            seen.withLock { $0.append((try? file.allBytes()) ?? []) }
            return finding
        }
        guard case .source(let source) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(try source.body.allBytes() == bytes)
        #expect(seen.withLock { $0 } == looks.map { Array(bytes.prefix($0)) })
    }
}
