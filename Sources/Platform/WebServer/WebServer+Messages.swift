internal import JSONText

extension WebServer {
    /// A client's request.
    package struct Request: Sendable {
        package let method: String
        /// Path and query as received.
        package let target: String
        /// Names in lower case; of a repeated header the last value.
        package let headers: [String: String]

        /// Path without the query, percent-decoded.
        package var path: String { Self.decoded(target.utf8.prefix { $0 != UInt8(ascii: "?") }) }
        package var query: String? {
            target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
        }

        private static func decoded(_ bytes: some Collection<UInt8>) -> String {
            var out: [UInt8] = []
            var rest = bytes[...]
            while let byte = rest.popFirst() {
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
                    out.append(value)
                    rest = rest.dropFirst(2)
                } else {
                    out.append(byte)
                }
            }
            return String(decoding: out, as: UTF8.self)
        }
    }

    /// The response to a request.
    package struct Response: Sendable {
        package enum Content: Sendable {
            case bytes([UInt8])
            /// Created once, for any number of responses at once.
            case shared(SharedContent)
            /// A regular file, sent by descriptor; 404 if it cannot be opened.
            case file(path: String)
            /// Computed later: the connection waits, the server's thread does not. Cancelled when the client's
            /// connection is gone.
            case later(@Sendable () async -> Response)
        }

        package var status: Int
        package var headers: [(name: String, value: String)]
        package var content: Content

        package init(status: Int = 200, headers: [(name: String, value: String)] = [], _ content: Content) {
            (self.status, self.headers, self.content) = (status, headers, content)
        }

        package init(status: Int = 200, type: String, _ bytes: [UInt8]) {
            self.init(status: status, headers: [("Content-Type", type)], .bytes(bytes))
        }

        package static func text(_ text: String, status: Int = 200) -> Response {
            Response(
                status: status, type: "text/plain; charset=utf-8",
                Array(PlainText.of(text, keepingLines: true).utf8))
        }

        package static let notFound = text("Not found.\n", status: 404)
        /// Closes the connection: its next bytes may be meant as a part of the request.
        static let ambiguous: Response = {
            var response = text("Two headers of the request contradict each other.\n", status: 400)
            response.headers.append(("Connection", "close"))
            return response
        }()
        static let busy = text("Too many requests wait for their response. Ask again later.\n", status: 503)
        package static let unavailable = text("The server is stopping.\n", status: 503)
    }
}
