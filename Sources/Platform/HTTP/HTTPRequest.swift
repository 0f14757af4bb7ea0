package import Posix

/// Time limits of a transfer's phases.
package struct HTTPDeadlines: Sendable, Hashable {
    package var resolve: Duration = .seconds(2)
    package var connect: Duration = .seconds(5)
    /// Time until the head of the response is complete.
    package var firstByte: Duration = .seconds(10)
    /// Time from the start of the transfer, without waits for a free connection and without pauses of the sink.
    package var whole: Duration = .seconds(30)
    /// Limit of the waits that `whole` leaves out; nil: twice `whole`. Waiting is no fault of the server's, so it needs
    /// a bound of its own. Without one, transfers that wait for each other's connections, or take turns at the last
    /// bytes of a budget, would hold their permits for each other's deadlines, one after another.
    package var waits: Duration?
    /// Bytes a second, averaged over each `flowWindow`, below which a transfer is aborted. Pauses of the sink do not
    /// count.
    package var flowFloor = 16 << 10
    package var flowWindow: Duration = .seconds(10)

    package init() {}

    package var longestWaits: Duration { waits ?? whole * 2 }
}

/// One GET, or a POST if it has a body.
package struct HTTPRequest: Sendable {
    /// URL as received; it is sent in the spelling of `WireURL`.
    package var url: String
    package var userAgent: String
    /// Lines of the form `Name: value`.
    package var headers: [String] = []
    /// Body to post; nil: a GET.
    package var body: [UInt8]?
    package var deadlines = HTTPDeadlines()
    /// Limit of status line, headers and trailers together, in bytes.
    package var headLimit = 32 << 10
    /// File of PEM certificates of authorities that may sign servers' certificates; nil: the system's.
    package var authorities: String?
    /// Decides whether an address may be used. It is called on the client's thread before a socket is opened and before
    /// a connection is reused; nil is an address of another family. False refuses it.
    package var accepts: @Sendable (IPAddress?) -> Bool

    package init(_ url: String, userAgent: String, accepts: @escaping @Sendable (IPAddress?) -> Bool) {
        (self.url, self.userAgent, self.accepts) = (url, userAgent, accepts)
    }
}

/// Status and headers, received before the body.
package struct HTTPHead: Sendable {
    package let status: Int
    /// Names in lower case, in the order received.
    package let headers: [(name: String, value: String)]

    package init(status: Int, headers: [(name: String, value: String)]) {
        (self.status, self.headers) = (status, headers)
    }

    /// The first value of a header; `name` in lower case.
    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The body's declared length, if it is valid.
    package var contentLength: Int? { header("content-length").flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 } }

    /// The length of a 206 whose one range covers the whole body, `bytes 0-9/10`: some stores send it though no range
    /// was requested.
    package var wholeRange: Int? {
        let ranges = headers.filter { $0.name == "content-range" }
        guard status == 206, ranges.count == 1,
            let length = ranges[0].value.split(separator: "/").last.flatMap({ Int($0) }),
            length > 0, ranges[0].value.lowercased() == "bytes 0-\(length - 1)/\(length)"
        else { return nil }
        return contentLength ?? length == length ? length : nil
    }
}

/// The result of a transfer; the body went to the sink.
package struct HTTPResponse: Sendable {
    package let head: HTTPHead
    /// Target of a 3xx response, made absolute; nil for other responses.
    package let redirect: String?
    /// Time since the start of the transfer, without pauses.
    package let elapsed: Duration
    /// Time spent in pauses and waiting for a free connection.
    package let waited: Duration
}

/// A sink's reply to the head of a response.
package enum HeadDecision: Sendable {
    case take
    /// The body is useless: a little of it is read and dropped, so that the connection can be reused.
    case discard
    /// Stop: the transfer fails as `ended`.
    case end
}

/// A sink's reply to a part of a body.
package enum SinkDecision: Sendable {
    case take
    /// Pause: the same bytes are passed again once the sink has called `resume`.
    case pause
    /// The rest is useless: the transfer ends here, and its response counts.
    case discard
    /// Stop: the transfer fails as `ended`.
    case end
}

/// Receives a body as it arrives.
///
/// - Concurrency: called on the client's one thread, which must not be blocked; never after `execute` has returned.
package protocol HTTPSink: AnyObject, Sendable {
    /// Receives status and headers. `resume` may be called from any thread, once for each pause.
    func begin(_ head: HTTPHead, resume: @escaping @Sendable () -> Void) -> HeadDecision
    func receive(_ bytes: UnsafeRawBufferPointer) -> SinkDecision
}
