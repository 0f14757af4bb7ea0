internal import Access
internal import Canonical
internal import Clocks
internal import DomainNames
internal import HTTP
internal import HTTPCache
internal import ImageHeaders
internal import Images
internal import Posix
internal import Records
internal import RenderKit
internal import RenderProtocol
internal import VariantSpec

/// Parsers of untrusted bytes. Their results are checked against their own rules: a wrong sum traps like an overflow.
enum FuzzTarget: String, CaseIterable {
    /// A picture's file.
    case headers
    /// A response's lines before and after its body.
    case lines
    /// Messages from and to child processes.
    case replies
    /// Jobs, rows, outcomes, notes and their headers.
    case records
    /// URLs of jobs, and targets of redirects.
    case urls
    case specs

    func read(_ bytes: [UInt8]) {
        switch self {
        case .headers: Self.header(bytes)
        case .lines: Self.lines(bytes)
        case .replies: Self.replies(bytes)
        case .records: Self.record(bytes)
        case .urls: Self.url(bytes)
        case .specs: Self.spec(bytes)
        }
    }

    private static func header(_ bytes: [UInt8]) {
        guard let file = try? OpenFile(anonymous: "fuzz"), (try? file.append(bytes)) != nil else { return }
        let limits = RenderLimits(formats: Set(ImageFormat.allCases))
        guard let facts = try? PictureInspector(limits: limits).inspect(file).facts else { return }
        precondition(facts.size.pixels <= limits.pixels && (1...8).contains(facts.orientation))
        // Files that a renderer rewrites before its libraries read them.
        bytes.withUnsafeBytes { bytes in
            switch facts.format {
            case .svg: _ = SVGRepair.repaired(bytes, facts.size)
            case .avif, .heic: _ = (HEIFRepair.repaired(bytes), HEIFPixels(bytes))
            default: break
            }
        }
    }

    private static func lines(_ bytes: [UInt8]) {
        let limit = 1_024
        var reader = HeadReader(limit: limit)
        var (taken, count) = (0, 0)
        for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
            do {
                let isEnd = try (line + [10]).withUnsafeBytes { try reader.take($0) }
                (taken, count) = (taken + line.count + 1, count + 1)
                if isEnd { precondition(reader.fault != nil || reader.headers.count <= count) }
            } catch { break }
        }
        // The first head over the limit was begun.
        precondition(taken <= limit && count <= 256 && reader.heads <= 10)
        let head = HTTPHead(status: 302, headers: reader.headers)
        precondition((head.contentLength ?? 0) >= 0)
        if let target = head.header("location").map({ LinkTarget.absolute($0, from: "https://a.example/b/c?d#e") }) {
            _ = ServerName(of: target)
        }
        let (fields, now) = (ResponseFields(head.headers), WallTime(milliseconds: 1_800_000_000_000))
        let policy = CachePolicy(fields, sent: [("accept", "image/*")], now: now)
        let again = policy.updated(by: fields, sent: [], now: now)
        for policy in [policy, again] { precondition(CacheControl([policy.control.text]) == policy.control) }
        if let value = head.header("retry-after"),
            let wait = RetryAfter.wait(value, date: head.header("date"), now: now)
        {
            precondition(wait > .zero && wait <= RetryAfter.longest)
        }
        for asked in [WallTime.epoch, now] {
            precondition(FreshnessRules().freshUntil(again, fields, asked: asked) >= asked)
        }
        _ = (policy.isConfirmed(by: fields), fields.updated(by: fields), FreshnessRules().ifError(policy, from: .epoch))
        _ = (FreshnessRules().whileRevalidate(policy, from: .distantFuture), policy.selection?.fits([]))
        precondition(policy.conditions.allSatisfy { $0.value.utf8.allSatisfy { $0 >= 32 && $0 != 127 } })
        for (_, value) in head.headers { precondition(value.utf8.count <= 3 * limit) }
    }

    private static func replies(_ bytes: [UInt8]) {
        if case .rendered(let outputs)? = RenderReply(message: bytes) {
            let reply = RenderReply.rendered(outputs)
            precondition(RenderReply(message: reply.message) == reply)
            precondition(outputs.allSatisfy { $0.size.times($0.frames) > 0 && $0.bytes > 0 })
        }
        if case .failed(let failure)? = RenderReply(message: bytes) { precondition(failure.reason.count <= 2_500) }
        if let reply = ParentReply(message: bytes) { precondition(ParentReply(message: reply.message) == reply) }
        if let request = ParentRequest(message: bytes) {
            precondition(ParentRequest(message: request.message) == request)
        }
        if let reply = InspectionReply(message: bytes) { precondition(InspectionReply(message: reply.message) != nil) }
        if let request = InspectionRequest(message: bytes) { _ = request.message }
        if let request = try? RenderRequest(message: bytes) { _ = request.message }
        precondition(ChildText.line(bytes).unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 })
    }

    private static func spec(_ bytes: [UInt8]) {
        if let spec = try? VariantSpec(utf8: bytes[...]) {
            precondition((try? VariantSpec(spec.description)) == spec)
        }
        if let spec = bytes.withUnsafeBufferPointer({ VariantSpec(written: $0) }) {
            precondition(spec.description.utf8.elementsEqual(bytes))
        }
    }

    private static let rules = CanonicalRules()

    private static func url(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let source = try? rules.source(of: bytes) {
            let again = try? rules.source(of: source.fetchURL)
            precondition(again?.key == source.key && again?.fetchURL == source.fetchURL)
            _ = ServerName(of: source.fetchURL).map { RequestedHost($0.host) }
        }
        precondition(rules.hidden.hide(in: rules.hidden.hide(in: text)) == rules.hidden.hide(in: text))
        _ = (OriginHost(of: text), ServerName(of: text), RequestedHost(text), try? DomainName.ascii(bytes))
        _ = (HostPattern(text), NAT64Prefix(text), PortRange(text), AddressRange(text))
        _ = LinkTarget.absolute(text, from: "https://a.example/b/c?d#e")
    }
}
