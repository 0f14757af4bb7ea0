package import HTTP
internal import Synchronization

/// What an address answers to a GET.
package struct Asked: Sendable {
    package let status: Int
    package let head: HTTPHead
    package let text: String

    package var type: String? { head.header("content-type") }

    /// `headers`: `Name: value`.
    package init(_ url: String, headers: [String] = []) async throws {
        let body = Body()
        var request = HTTPRequest(url, userAgent: "test") { _ in true }
        request.headers = headers
        let response = try await HTTPClient().execute(request, into: body)
        (status, head, text) = (response.head.status, response.head, body.text)
    }

    private final class Body: HTTPSink {
        private let kept = Mutex<[UInt8]>([])
        var text: String { kept.withLock { String(decoding: $0, as: UTF8.self) } }
        func begin(_ head: HTTPHead, resume: @escaping @Sendable () -> Void) -> HeadDecision { .take }
        func receive(_ bytes: UnsafeRawBufferPointer) -> SinkDecision {
            kept.withLock { $0 += bytes }
            return .take
        }
    }
}
