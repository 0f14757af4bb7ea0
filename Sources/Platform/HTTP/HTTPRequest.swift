package import Posix

/// How long each part of a transfer may take.
package struct HTTPDeadlines: Sendable, Hashable {
    package var resolve: Duration = .seconds(2)
    package var connect: Duration = .seconds(5)
    /// Until the head of the answer is whole.
    package var firstByte: Duration = .seconds(10)
    /// From when the transfer is taken up: waiting for a free connection is not counted, nor is a pause of the sink's.
    package var whole: Duration = .seconds(30)
    /// What `whole` leaves out, in all; nil: twice as long as that. Waiting is no fault of the server's, but without a bound
    /// those that wait for one another's connections, or take turns at the last bytes of a budget, would hold their permits
    /// for each other's deadlines, one after another.
    package var waits: Duration?
    /// Bytes a second, on average of a `flowWindow`, below which a body is given up. A pause of the sink's is not counted.
    package var flowFloor = 16 << 10
    package var flowWindow: Duration = .seconds(10)

    package init() {}

    package var longestWaits: Duration { waits ?? whole * 2 }
}

/// One GET, or a POST where it has a body.
package struct HTTPRequest: Sendable {
    /// As it came; it is sent in the spelling of `WireURL`.
    package var url: String
    package var userAgent: String
    /// `Name: value`.
    package var headers: [String] = []
    /// What is posted; nil: nothing is.
    package var body: [UInt8]?
    package var deadlines = HTTPDeadlines()
    /// Status line, headers and trailers together, in bytes.
    package var headLimit = 32 << 10
    /// A file of certificates (PEM) of those who may vouch for servers; nil: the system's.
    package var authorities: String?
    /// Asked before a socket is opened and before a connection is reused, on the client's thread, with the address; nil
    /// if it is of another kind. False refuses it.
    package var accepts: @Sendable (IPAddress?) -> Bool

    package init(_ url: String, userAgent: String, accepts: @escaping @Sendable (IPAddress?) -> Bool) {
        (self.url, self.userAgent, self.accepts) = (url, userAgent, accepts)
    }
}

/// Status and headers, as they came before the body.
package struct HTTPHead: Sendable {
    package let status: Int
    /// Names in lower case, in the order received.
    package let headers: [(name: String, value: String)]

    package init(status: Int, headers: [(name: String, value: String)]) {
        (self.status, self.headers) = (status, headers)
    }

    /// The first value of a header; `name` in lower case.
    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The body's length as declared, if that is one.
    package var contentLength: Int? { header("content-length").flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 } }

    /// The length of a 206 whose one range is all of it, `bytes 0-9/10`: some stores answer so though no range was asked for.
    package var wholeRange: Int? {
        let ranges = headers.filter { $0.name == "content-range" }
        guard status == 206, ranges.count == 1,
            let length = ranges[0].value.split(separator: "/").last.flatMap({ Int($0) }),
            length > 0, ranges[0].value.lowercased() == "bytes 0-\(length - 1)/\(length)"
        else { return nil }
        return contentLength ?? length == length ? length : nil
    }
}

/// What came of a transfer; the body went to the sink.
package struct HTTPResponse: Sendable {
    package let head: HTTPHead
    /// Where a 3xx answer points, made absolute; nil elsewhere.
    package let redirect: String?
    /// From when the transfer was taken up, pauses left out.
    package let elapsed: Duration
    /// For a free connection and in pauses.
    package let waited: Duration
}

/// What a sink says to the head of a response.
package enum HeadAnswer: Sendable {
    case take
    /// The body is of no use: a little of it is read and thrown away, so that the connection can be reused.
    case discard
    /// No more: the transfer fails as `ended`.
    case end
}

/// What a sink says to a part of a body.
package enum SinkAnswer: Sendable {
    case take
    /// Later: the same bytes come again once the sink has called `resume`.
    case pause
    /// The rest is of no use: the transfer ends here, and the response stands.
    case discard
    /// No more: the transfer fails as `ended`.
    case end
}

/// Takes a body as it comes.
///
/// - Concurrency: called on the client's one thread, which must not be held up; after `execute` has returned, never.
package protocol HTTPSink: AnyObject, Sendable {
    /// Status and headers are here. `resume` may be called from any thread, once for each pause.
    func begin(_ head: HTTPHead, resume: @escaping @Sendable () -> Void) -> HeadAnswer
    func receive(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer
}
