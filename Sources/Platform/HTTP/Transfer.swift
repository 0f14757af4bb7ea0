internal import CCurl
internal import Clocks
internal import Posix

/// One request in progress: its stage, the bytes received so far, and its result.
///
/// - Concurrency: created by the caller, then used only by the client's thread.
final class Transfer: @unchecked Sendable {
    /// Stage of a transfer; each has its deadline, except the queue.
    enum Stage { case queued, resolving, connecting, waiting, flowing }

    let id: UInt64
    let request: HTTPRequest
    private var sink: (any HTTPSink)?
    private let answer: (Result<HTTPResponse, HTTPFailure>) -> Void
    private let mailbox: TransferMailbox
    /// Set when the loop starts the transfer.
    var handle: EasyHandle?
    var traffic: Traffic?

    private(set) var stage = Stage.queued
    private var stageBegan = Instant.distantPast
    private let made = SystemTime.monotonic
    private var takenUp: Instant?
    private var pausedAt: Instant?
    private var paused = Duration.zero
    /// Minimum rate, from the end of the head on.
    private var floor: FlowFloor?

    private(set) var head: HTTPHead?
    /// Target of a redirect; known from the head on, since its body need not end.
    private var redirect: String?
    private var reader: HeadReader
    /// Bytes of the body so far.
    private var length = 0
    /// Bytes of an unwanted body that are still read; nil while the body is wanted.
    private var discardable: Int?
    /// Each refused address, once. A host name may have many.
    private var refused: [String] = []
    private static let namedAddresses = 8
    /// Failure by which one of our callbacks ended the transfer.
    private var ownFailure: HTTPFailure?

    /// Bytes of an unwanted body that are cheaper to read than opening a new connection.
    private static let discardLimit = 64 << 10

    init(
        _ id: UInt64, _ request: HTTPRequest, _ sink: any HTTPSink, _ mailbox: TransferMailbox,
        answer: @escaping (Result<HTTPResponse, HTTPFailure>) -> Void
    ) {
        (self.id, self.request, self.sink, self.mailbox, self.answer) = (id, request, sink, mailbox, answer)
        reader = HeadReader(limit: request.headLimit)
    }

    func reached(_ next: Stage) {
        let now = SystemTime.monotonic
        if stage == .queued { takenUp = now }
        (stage, stageBegan) = (next, now)
    }

    /// Whether the address may be used; nil is one that is neither IPv4 nor IPv6.
    func accepts(_ address: IPAddress?) -> Bool {
        if request.accepts(address) { return true }
        let text = address?.description ?? "an address of another kind"
        if refused.count < Self.namedAddresses, !refused.contains(text) { refused.append(text) }
        return false
    }

    /// Reads one line of the head, or of the trailers, with its end; false ends the transfer.
    func receive(line: UnsafeRawBufferPointer) -> Bool {
        traffic?.took(line.count)
        do throws(HTTPFailure) {
            guard try reader.take(line), head == nil else { return true }
        } catch {
            ownFailure = error
            return false
        }
        var status = 0
        mz_get_long(handle?.pointer, CURLINFO_RESPONSE_CODE, &status)
        // libcurl takes the following bytes for the body, and no final head ever comes.
        guard status != 101 else {
            ownFailure = .malformed(reason: "it switches protocols")
            return false
        }
        guard status >= 200 else { return true }
        let head = HTTPHead(status: status, headers: reader.headers)
        self.head = head
        reached(.flowing)
        floor = FlowFloor(
            bytesPerSecond: request.deadlines.flowFloor, window: request.deadlines.flowWindow,
            from: stageBegan - paused)
        if (300..<400).contains(status), let location = head.header("location") {
            redirect = LinkTarget.absolute(location, from: request.url)
        }
        let id = id
        switch sink?.begin(head, resume: { [mailbox] in mailbox.post(.resume(id)) }) {
        case .take where reader.fault != nil:
            ownFailure = reader.fault
            return false
        case .take: break
        case .discard:
            discardable = Self.discardLimit
            // The body is too long to read only to keep the connection, or must not be read. The transfer ends here,
            // and `settled` keeps its response.
            if head.contentLength ?? 0 > Self.discardLimit || reader.fault != nil { return false }
        case .end, nil:
            ownFailure = .ended
            return false
        }
        return true
    }

    /// Reads bytes of the body; returns their number, `CURL_WRITEFUNC_PAUSE`, or 0 to end the transfer.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard head != nil else {
            ownFailure = .malformed(reason: "its body comes before its head")
            return 0
        }
        if let left = discardable {
            took(bytes.count)
            discardable = left - bytes.count
            return left < bytes.count ? 0 : bytes.count
        }
        switch sink?.receive(bytes) {
        case .take:
            took(bytes.count)
            return bytes.count
        case .pause:
            // The sink may have resumed already; then the loop handles it after this call returns.
            if pausedAt == nil { traffic?.paused(1) }
            pausedAt = SystemTime.monotonic
            return Int(CURL_WRITEFUNC_PAUSE)
        case .discard:
            discardable = 0
            return 0
        case .end, nil:
            ownFailure = .ended
            return 0
        }
    }

    private func took(_ count: Int) {
        length += count
        floor?.took(count)
        traffic?.took(count)
    }

    func resume(at now: Instant) {
        guard let pausedAt else { return }
        paused += now - pausedAt
        self.pausedAt = nil
        traffic?.paused(-1)
    }

    /// The deadline that has passed, if any.
    func overdue(at now: Instant) -> HTTPPhase? {
        let deadlines = request.deadlines
        if waited(now) > deadlines.longestWaits { return .whole }
        guard let takenUp, pausedAt == nil else { return nil }
        if now - takenUp - paused > deadlines.whole { return .whole }
        let spent = now - stageBegan
        return switch stage {
        case .resolving where spent > deadlines.resolve: .resolving
        case .connecting where spent > deadlines.connect: .connecting
        case .waiting where spent > deadlines.firstByte: .waiting
        case .flowing where floor?.isBroken(at: now - paused) == true: .flow
        default: nil
        }
    }

    func result(_ code: CURLcode, at now: Instant) -> Result<HTTPResponse, HTTPFailure> {
        if code == CURLE_OK, let head {
            return .success(response(head, now))
        }
        if let ownFailure { return .failure(ownFailure) }
        if traffic?.isFlooded == true {
            return .failure(.connection(reason: "most of what the server sent belongs to no response"))
        }
        if !refused.isEmpty { return .failure(.refusedAddress(refused.joined(separator: " and "))) }
        return .failure(failure(code))
    }

    private func failure(_ code: CURLcode) -> HTTPFailure {
        let reason = String(cString: curl_easy_strerror(code))
        return switch code {
        case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED: .invalidURL
        case CURLE_COULDNT_RESOLVE_HOST: .unresolved
        case CURLE_PEER_FAILED_VERIFICATION: .untrusted
        case CURLE_PARTIAL_FILE: .truncated
        case CURLE_OPERATION_TIMEDOUT: .deadline(.connecting)
        // A line that never ends: libcurl keeps 100 KiB of it.
        case CURLE_OUT_OF_MEMORY where reader.heads > 0 && head == nil: .headTooLarge(limit: request.headLimit)
        // libcurl keeps a head's lines, and refuses one without a name.
        case CURLE_BAD_FUNCTION_ARGUMENT where reader.heads > 0:
            .malformed(reason: "one of its header lines has no name")
        // A response that does not even begin as HTTP must look like a closed port.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY:
            reader.heads > 0 ? .malformed(reason: reason) : .connection(reason: "the server does not speak HTTP")
        default: .connection(reason: reason)
        }
    }

    /// Returns the result to the caller, who then holds the only reference to the sink.
    func finish(_ result: Result<HTTPResponse, HTTPFailure>) {
        if pausedAt != nil { traffic?.paused(-1) }
        sink = nil
        answer(result)
    }

    /// A response with an unwanted body counts, however its body ended.
    func settled(_ result: Result<HTTPResponse, HTTPFailure>, at now: Instant) -> Result<HTTPResponse, HTTPFailure> {
        if case .failure = result, let head { traffic?.left(head.contentLength.map { max(0, $0 - length) }) }
        if case .failure(let failure) = result, failure != .cancelled, discardable != nil, let head {
            return .success(response(head, now))
        }
        return result
    }

    private func response(_ head: HTTPHead, _ now: Instant) -> HTTPResponse {
        let waited = waited(now)
        return HTTPResponse(
            head: head, redirect: redirect, elapsed: now - made - waited, waited: waited)
    }

    /// Time that counts for none of the server's deadlines.
    private func waited(_ now: Instant) -> Duration {
        (takenUp ?? now) - made + paused + (pausedAt.map { now - $0 } ?? .zero)
    }
}
