internal import Access
internal import Canonical
internal import Clocks
internal import Digest
internal import HTTP
internal import HTTPCache
internal import Images
package import Ports
package import Posix

/// Fetches sources over libcurl, connecting only to hosts and addresses that the access rules allow.
///
/// A redirect is returned to the caller, so that each hop has its host's permit, and is checked like the first. Bodies
/// live in anonymous files, outside the worker's heap, and count against one budget until they are released.
package final class GuardedFetcher: Fetcher {
    private let configuration: OriginConfiguration
    private let client: HTTPClient
    private let rules: AccessRules
    private let own = OwnAddresses()
    private let judge: StartLook.Judge?
    let budget: BodyBudget

    /// - Parameter judge: looks at a large body's first bytes.
    package init(
        _ configuration: OriginConfiguration, judge: (@Sendable (OpenFile) async -> StartFinding)? = nil
    ) {
        (self.configuration, self.judge) = (configuration, judge)
        client = HTTPClient(connectionsPerHost: configuration.connectionsPerHost)
        rules = configuration.settings.access
        budget = BodyBudget(limit: configuration.settings.budget)
    }

    package func fetch(
        _ request: FetchRequest, nearlyDone: @escaping @Sendable () -> Void
    ) async throws(FetchFailure) -> FetchResponse {
        let (url, hop) = (request.redirect?.url ?? request.url.fetched, request.redirect?.hop ?? 0)
        guard Self.isFetchable(url) else { throw .invalidURL(request.url) }
        let (server, host) = try permitted(url, for: request, hop: hop)
        var deadlines = configuration.settings.deadlines
        deadlines.waits = deadlines.longestWaits - (request.redirect?.waited ?? .zero)
        deadlines.whole -= request.redirect?.spent ?? .zero
        var known = request.known
        while true {
            let share = min(BodyIntake.step, configuration.settings.byteLimit)
            guard let lease = await budget.enter(for: server.description, with: share) else { throw .cancelled }
            let intake: BodyIntake
            do {
                intake = try BodyIntake(
                    limit: configuration.settings.byteLimit, lease: lease, judge: judge, nearlyDone: nearlyDone)
            } catch {
                throw .noSpace(reason: error.description)
            }
            let conditions = known?.conditions(at: url, hop: hop) ?? []
            let response = try await transfer(
                url, host, deadlines, conditions, into: intake, for: request, hop: hop)
            deadlines.whole -= response.elapsed
            deadlines.waits? -= response.waited
            switch response.head.status {
            case 200,
                206 where response.head.wholeRange != nil:
                let head = head(response, of: url, deadlines, hop == 0 ? nil : url, request.redirect)
                if let failure = intake.unusable { return .refused(failure, head) }
                try checkRange(response.head, intake, request)
                return .source(try source(intake, head, request))
            case 304 where !conditions.isEmpty:
                let head = head(response, of: url, deadlines, known?.location, request.redirect)
                if known?.isConfirmed(by: head.fields) == true { return .notModified(head) }
                // The 304 confirms a version that is not stored here: fetches the whole body instead.
                known = nil
            case 304: throw .notModified(url: request.url)
            case 301, 302, 303, 307, 308:
                guard let next = response.redirect else { throw .status(url: request.url, response.head.status) }
                let hops = (request.redirect?.hops ?? []) + [self.hop(response, of: url)]
                return .redirected(try redirect(to: next, hop: hop + 1, hops, deadlines, request))
            case let status:
                throw .status(url: request.url, status, retryAfter: retryAfter(response.head))
            }
        }
    }

    /// Returns a redirect. A forbidden target is refused here, so that no job waits for a permit of its host.
    private func redirect(
        to url: String, hop: Int, _ hops: [RedirectHop], _ left: HTTPDeadlines, _ request: FetchRequest
    ) throws(FetchFailure) -> Redirect {
        guard Self.isFetchable(url), let host = Self.host(of: url) else {
            throw .badRedirect(url: request.url, to: SourceURL(url))
        }
        if hop > configuration.settings.redirects {
            throw .redirects(url: request.url, limit: configuration.settings.redirects)
        }
        _ = try permitted(url, for: request, hop: hop)
        return Redirect(
            to: url, at: host, hop: hop, spent: configuration.settings.deadlines.whole - left.whole,
            waited: configuration.settings.deadlines.longestWaits - (left.waits ?? .zero), hops: hops)
    }

    /// The server of a URL, whose path and query need not be valid for jobs; nil: the URL has none, or names a user.
    private static func host(of url: String) -> OriginHost? {
        let ends = url.utf8.indices.filter { url.utf8[$0] == UInt8(ascii: "/") }.dropFirst(2)
        let server = url.prefix(upTo: ends.first ?? url.endIndex).prefix { $0 != "?" && $0 != "#" }
        let host = OriginHost(of: String(server))
        return host.description.isEmpty ? nil : host
    }

    private func retryAfter(_ head: HTTPHead) -> Duration? {
        head.header("retry-after").flatMap {
            RetryAfter.wait($0, date: head.header("date"), now: SystemTime.wall)
        }
    }

    /// The server and host that the URL of a hop requests, if the rules allow them.
    private func permitted(
        _ url: String, for request: FetchRequest, hop: Int
    ) throws(FetchFailure) -> (ServerName, RequestedHost) {
        guard let server = ServerName(of: url), let host = RequestedHost(server.host) else {
            throw hop == 0 ? .invalidURL(request.url) : .badRedirect(url: request.url, to: SourceURL(url))
        }
        switch rules.refusal(of: host, port: server.port, isOwn: own.contains) {
        case nil: return (server, host)
        case .denied: throw .refusedHost(url: request.url, host: host.description, isListed: true)
        case .unlisted: throw .refusedHost(url: request.url, host: host.description, isListed: false)
        case .port(let port): throw .refusedPort(url: request.url, port: Int(port))
        case .address(let address): throw .refusedAddress(url: request.url, address: address.description)
        }
    }

    private func transfer(
        _ url: String, _ host: RequestedHost, _ deadlines: HTTPDeadlines, _ conditions: [(name: String, value: String)],
        into intake: BodyIntake,
        for request: FetchRequest, hop: Int
    ) async throws(FetchFailure) -> HTTPResponse {
        var get = HTTPRequest(url, userAgent: configuration.sent.userAgent) { [rules, own] address in
            address.map { rules.accepts($0, for: host, isOwn: own.contains) } ?? false
        }
        get.deadlines = deadlines
        get.authorities = configuration.authorities?.path
        get.headers = (configuration.sent.own(for: url) + conditions).map { "\($0.name): \($0.value)" }
        do {
            return try await client.execute(get, into: intake)
        } catch {
            throw failure(error, intake, request.url, hop == 0 ? nil : url)
        }
    }

    private func head(
        _ response: HTTPResponse, of url: String, _ left: HTTPDeadlines, _ location: String?, _ redirect: Redirect?
    ) -> ResponseHead {
        var head = ResponseHead()
        head.fields = fields(response)
        head.hops = redirect?.hops ?? []
        head.sent = configuration.sent.all(for: url)
        head.elapsed = configuration.settings.deadlines.whole - left.whole
        head.location = location
        return head
    }

    private func hop(_ response: HTTPResponse, of url: String) -> RedirectHop {
        RedirectHop(
            fields(response), status: response.head.status, sent: configuration.sent.all(for: url),
            asked: SystemTime.wall - response.elapsed)
    }

    private func fields(_ response: HTTPResponse) -> ResponseFields {
        ResponseFields(response.head.headers.filter { CachePolicy.fields.contains($0.name) })
    }

    /// Checks a chunked 206, which declares its length only by its range.
    private func checkRange(_ head: HTTPHead, _ intake: BodyIntake, _ request: FetchRequest) throws(FetchFailure) {
        guard let length = head.wholeRange, intake.length != length else { return }
        if intake.length < length { throw .truncated(url: request.url) }
        let reason = "its Content-Range names \(length) bytes, and its body has \(intake.length)"
        throw .badResponse(url: request.url, reason: reason)
    }

    private func source(
        _ intake: BodyIntake, _ head: ResponseHead, _ request: FetchRequest
    ) throws(FetchFailure) -> FetchedSource {
        guard intake.length > 0 else { throw .empty(url: request.url) }
        do throws(SystemFailure) {
            return FetchedSource(body: intake.file, digest: try intake.finish(), head: head)
        } catch {
            throw .noSpace(reason: error.description)
        }
    }

    /// - Parameter hop: URL of a redirect's target; nil for the job's own.
    private func failure(
        _ failure: HTTPFailure, _ intake: BodyIntake, _ url: SourceURL, _ hop: String?
    ) -> FetchFailure {
        switch failure {
        case .invalidURL: hop.map { .badRedirect(url: url, to: SourceURL($0)) } ?? .invalidURL(url)
        case .refusedAddress(let address): .refusedName(url: url, address: address)
        case .unresolved: .resolution(url: url)
        case .connection(let reason): .connection(url: url, reason: reason)
        case .untrusted:
            .connection(
                url: url,
                reason:
                    "its certificate is for another host, has expired, or is signed by no trusted authority; fetch.authorities adds a private one"
            )
        case .deadline(let phase): .deadline(url: url, phase: phase.rawValue)
        case .truncated: .truncated(url: url)
        case .headTooLarge(let limit): .badResponse(url: url, reason: "its headers are over \(limit) bytes")
        case .malformed(let reason): .badResponse(url: url, reason: reason)
        case .encoded(let encoding): .encoded(url: url, encoding: encoding)
        case .cancelled: .cancelled
        case .ended:
            switch intake.refusal {
            case .tooLarge: .tooLarge(url: url, limit: configuration.settings.byteLimit)
            case .noSpace(let reason): .noSpace(reason: reason)
            case nil: .cancelled
            }
        }
    }

    /// Whether the URL is http or https with two slashes. libcurl guesses a missing scheme and skips a third slash, so
    /// this is checked here; libcurl checks the rest of the URL.
    private static func isFetchable(_ url: String) -> Bool {
        let bytes = url.utf8
        return ["http://", "https://"].contains { scheme in
            let start = bytes.prefix(scheme.utf8.count)
            return String(decoding: start, as: UTF8.self).lowercased() == scheme
                && bytes.dropFirst(scheme.utf8.count).first.map { $0 != UInt8(ascii: "/") } ?? false
        }
    }
}

extension CachePolicy {
    /// Headers that make a request conditional. Validators belong to the URL that sent them, so another hop is
    /// requested without them.
    fileprivate func conditions(at url: String, hop: Int) -> [(name: String, value: String)] {
        location == (hop == 0 ? nil : url) ? conditions : []
    }
}
