package import Canonical
package import Failures
internal import VariantSpec

/// Reason why a source could not be fetched.
package enum FetchFailure: CodedFailure, Hashable {
    case invalidURL(SourceURL)
    /// `isListed`: whether `fetch.hosts.deny` lists the host. If false, `fetch.hosts.allow` does not list it.
    case refusedHost(url: SourceURL, host: String, isListed: Bool)
    case refusedPort(url: SourceURL, port: Int)
    /// The URL, or a redirect's URL, contains the address itself.
    case refusedAddress(url: SourceURL, address: String)
    /// The host name resolves to the address.
    case refusedName(url: SourceURL, address: String)
    case resolution(url: SourceURL)
    case connection(url: SourceURL, reason: String)
    case deadline(url: SourceURL, phase: String)
    /// `retryAfter`: pause that the host asked for.
    case status(url: SourceURL, Int, retryAfter: Duration? = nil)
    case notModified(url: SourceURL)
    case redirects(url: SourceURL, limit: Int)
    case badRedirect(url: SourceURL, to: SourceURL)
    case tooLarge(url: SourceURL, limit: Int)
    case empty(url: SourceURL)
    case truncated(url: SourceURL)
    case encoded(url: SourceURL, encoding: String)
    case badResponse(url: SourceURL, reason: String)
    case noSpace(reason: String)
    case cancelled

    package var kind: Code {
        switch self {
        case .invalidURL: .invalidURL
        case .refusedHost: .refusedHost
        case .refusedPort: .refusedPort
        case .refusedAddress: .refusedAddress
        case .refusedName: .refusedName
        case .resolution: .resolution
        case .connection: .connection
        case .deadline: .deadline
        case .status(_, let status, _):
            switch status {
            case 404, 410: .notFound
            case 401, 403: .forbidden
            case 408: .requestTimeout
            case 429: .tooManyRequests
            case 500...: .serverError
            default: .status
            }
        case .notModified: .notModified
        case .redirects: .redirects
        case .badRedirect: .badRedirect
        case .tooLarge: .tooLarge
        case .empty: .empty
        case .truncated: .truncated
        case .encoded: .encoded
        case .badResponse: .badResponse
        case .noSpace: .noSpace
        case .cancelled: .cancelled
        }
    }

    package var description: String {
        switch self {
        case .invalidURL(let url):
            "\(Excerpt.url(Array(url.description.utf8))) cannot be fetched: it is not an http or https URL that libcurl accepts. Correct the job."
        case .refusedHost(let url, let host, let isListed):
            isListed
                ? "\(url) leads to \(host), which fetch.hosts.deny refuses. To fetch from it, remove it there."
                : "\(url) leads to \(host), which fetch.hosts.allow does not list. To fetch from it, add it there."
        case .refusedPort(let url, let port):
            "Port \(port) of \(url) is not allowed. To allow it, add it to fetch.ports together with every other port that you need: the setting replaces the default list."
        case .refusedAddress(let url, let address), .refusedName(let url, let address):
            "\(url) leads to \(address), which the address guard refuses. If it is an origin of yours, add its range to fetch.allow."
        case .resolution(let url):
            "The host name of \(url) has no address. Check the name and the resolver."
        case .connection(let url, let reason):
            "The connection for \(url) failed: \(reason). Check that the host responds."
        case .deadline(let url, let phase):
            "\(url) took too long (\(phase)). See fetch.timeouts and fetch.minRate."
        case .status(let url, let status, _) where status == 404 || status == 410:
            "The origin answered \(status) for \(url). Check that the source still exists."
        case .status(let url, let status, _) where status == 401 || status == 403:
            "The origin answered \(status) for \(url). Check that the worker may read it."
        case .status(let url, let status, _) where status == 408 || status == 429 || status >= 500:
            "The origin answered \(status) for \(url)."
        case .status(let url, 206, _):
            "The origin answered 206 for \(url) with a part of it, though the whole was requested. Correct the origin."
        case .status(let url, let status, _):
            "The origin answered \(status) for \(url), which has no image. Check the URL."
        case .notModified(let url):
            "The origin answered 304 for \(url), although the request had no conditions. Correct the origin."
        case .redirects(let url, let limit):
            "\(url) redirects more than \(limit) times. Point the job at the final URL."
        case .badRedirect(let url, let to):
            "\(url) redirects to \(Excerpt.url(Array(to.shown.withoutQuery.utf8))), which is not an http or https URL without a user. Correct the origin."
        case .tooLarge(let url, let limit): "\(url) is larger than \(limit % 1_024 == 0 ? LogFailure.size(limit) : "\(limit) bytes"). Raise fetch.byteLimit to accept it."
        case .empty(let url): "\(url) has an empty body. Check the source at its origin."
        case .truncated(let url):
            "The body of \(url) ended before its length."
        case .encoded(let url, let encoding):
            "The origin sent \(url) with \(encoding), though the request accepts no encoding (Accept-Encoding: identity). Let the origin send the image as it is."
        case .badResponse(let url, let reason): "The response for \(url) is not valid HTTP: \(reason). Correct the origin."
        case .noSpace(let reason): "There was no room for a body: \(reason)."
        case .cancelled: "The fetch was aborted because the worker is stopping."
        }
    }

    package var isConfidential: Bool { kind.isConfidential }

    /// URL of a fetch for which no request was sent, because it was refused or its host has no address.
    package var unasked: SourceURL? {
        switch self {
        case .invalidURL(let url), .refusedHost(let url, _, _), .refusedPort(let url, _), .refusedAddress(let url, _),
            .refusedName(let url, _), .resolution(let url):
            url
        default: nil
        }
    }

    package enum Code: String, FailureCode {
        case invalidURL = "fetch.invalid-url"
        case refusedHost = "fetch.refused-host"
        case refusedPort = "fetch.refused-port"
        case refusedAddress = "fetch.refused-address"
        case refusedName = "fetch.refused-name"
        case resolution = "fetch.resolution"
        case connection = "fetch.connection"
        case deadline = "fetch.deadline"
        case notFound = "fetch.not-found"
        case forbidden = "fetch.forbidden"
        case tooManyRequests = "fetch.too-many-requests"
        case requestTimeout = "fetch.request-timeout"
        case serverError = "fetch.server-error"
        case status = "fetch.status"
        case notModified = "fetch.not-modified"
        case redirects = "fetch.redirects"
        case badRedirect = "fetch.bad-redirect"
        case tooLarge = "fetch.too-large"
        case empty = "fetch.empty"
        case truncated = "fetch.truncated"
        case encoded = "fetch.encoded"
        case badResponse = "fetch.bad-response"
        case noSpace = "fetch.no-space"
        case cancelled = "fetch.cancelled"
        /// Code that outcomes show in place of confidential ones (`FailureNote.published`); nothing fails with it.
        case unreachable = "fetch.unreachable"

        /// Whether the code would show publishers something about this network: which names exist, where they lead, and
        /// what listens. Publishers see one code for all of these, which are also retried equally often.
        package var isConfidential: Bool { [.refusedName, .resolution, .connection, .deadline].contains(self) }

        package var meaning: String {
            switch self {
            case .invalidURL: "The URL cannot be fetched."
            case .refusedHost: "fetch.hosts.deny lists the host, or fetch.hosts.allow does not."
            case .refusedPort: "fetch.ports does not list the port."
            case .refusedAddress: "The address guard refuses the address in the URL itself."
            case .refusedName:
                "The access rules refuse the address of the host name. Outcomes show fetch.unreachable."
            case .resolution: "The host name has no address. Outcomes show fetch.unreachable."
            case .connection:
                "The connection could not be made or broke, or the server does not speak HTTP. Outcomes show fetch.unreachable."
            case .unreachable:
                "Only in outcomes, in place of fetch.refused-name, fetch.resolution, fetch.connection and fetch.deadline, which would reveal the worker's network to publishers. The worker's log and dead letters have the true code."
            case .deadline:
                "A deadline passed (DNS, connect, head, whole), or the body came more slowly than fetch.minRate. Outcomes show fetch.unreachable."
            case .notFound: "The origin answered 404 or 410."
            case .forbidden: "The origin answered 401 or 403."
            case .tooManyRequests: "The origin answered 429."
            case .requestTimeout: "The origin answered 408."
            case .serverError: "The origin answered 5xx."
            case .status: "The origin answered with another status that is not a success."
            case .notModified: "The origin answered 304 to a request without conditions."
            case .redirects: "More redirects than allowed."
            case .badRedirect: "A redirect leads to a URL that is not http or https, or that contains a user name."
            case .tooLarge: "The body is over the byte limit."
            case .empty: "The body is empty."
            case .truncated: "The body ended before its declared length."
            case .encoded:
                "The response names an encoding that was not requested: a content encoding such as gzip, or a transfer encoding other than chunked. Content encodings that encode nothing are ignored: identity, none, binary, 7bit, 8bit, utf-8, utf8, aws-chunked."
            case .badResponse:
                "The response is not valid HTTP, declares two ends of its body, or has too many headers: over 32 KiB or 256 lines, trailers included, or over 8 interim responses (1xx)."
            case .noSpace: "The worker had too little memory or disk space for the body."
            case .cancelled: "The worker stopped during the fetch."
            }
        }

        package var verdict: Verdict {
            switch self {
            case .invalidURL, .refusedHost, .refusedPort, .refusedAddress, .notFound, .forbidden, .status, .notModified,
                .redirects, .badRedirect, .tooLarge,
                .empty, .encoded, .badResponse:
                .fail
            case .refusedName, .resolution, .connection, .deadline, .unreachable, .tooManyRequests, .requestTimeout,
                .serverError, .truncated:
                .retry
            case .noSpace, .cancelled: .wait
            }
        }
    }
}
