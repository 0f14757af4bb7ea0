package import Digest
package import ImageModel
package import Posix

/// One source to bring here.
package struct FetchRequest: Sendable, Hashable {
    /// The received bytes less the fragment.
    package let url: String
    package let lane: Lane
    package init(url: String, lane: Lane) { (self.url, self.lane) = (url, lane) }
}

/// A source's bytes, in an anonymous file outside the worker's heap.
package struct FetchedSource: Sendable {
    package let body: OpenFile
    package let digest: SHA256Digest
    /// As the origin says; never believed about the format.
    package let contentType: String?

    package init(body: OpenFile, digest: SHA256Digest, contentType: String?) {
        (self.body, self.digest, self.contentType) = (body, digest, contentType)
    }

    package var version: SourceVersion { SourceVersion(digest) }
}

/// Brings sources from their origins, under the address guard.
///
/// - Failure: within the deadlines of the configuration; a cancelled task ends its transfer.
package protocol Fetcher: Sendable {
    func fetch(_ request: FetchRequest) async throws(FetchFailure) -> FetchedSource
}

/// Why a source could not be brought here.
package enum FetchFailure: StageFailure, Hashable {
    case invalidURL(String)
    case refusedAddress(url: String, address: String)
    case resolution(url: String)
    case connection(url: String, reason: String)
    case deadline(url: String, phase: String)
    case status(url: String, Int)
    case redirects(url: String, limit: Int)
    case badRedirect(url: String, to: String)
    case tooLarge(url: String, limit: Int)
    case empty(url: String)
    case truncated(url: String)
    case encoded(url: String, encoding: String)
    case badAnswer(url: String, reason: String)
    case noSpace(reason: String)
    case cancelled

    package var code: String {
        switch self {
        case .invalidURL: "fetch.invalid-url"
        case .refusedAddress: "fetch.refused-address"
        case .resolution: "fetch.resolution"
        case .connection: "fetch.connection"
        case .deadline: "fetch.deadline"
        case .status(_, let status):
            switch status {
            case 404, 410: "fetch.not-found"
            case 401, 403: "fetch.forbidden"
            case 429: "fetch.too-many-requests"
            case 500...: "fetch.server-error"
            default: "fetch.status"
            }
        case .redirects: "fetch.redirects"
        case .badRedirect: "fetch.bad-redirect"
        case .tooLarge: "fetch.too-large"
        case .empty: "fetch.empty"
        case .truncated: "fetch.truncated"
        case .encoded: "fetch.encoded"
        case .badAnswer: "fetch.bad-answer"
        case .noSpace: "fetch.no-space"
        case .cancelled: "fetch.cancelled"
        }
    }

    package var description: String {
        switch self {
        case .invalidURL(let url): "\(url) cannot be fetched: it is not an http or https URL that libcurl accepts. Correct the job."
        case .refusedAddress(let url, let address):
            "\(url) leads to \(address), which the address guard refuses. If it is an origin of yours, add its range to fetch.allow."
        case .resolution(let url): "The host of \(url) has no address now. Check the name and the resolver; it is tried again."
        case .connection(let url, let reason): "The connection for \(url) failed: \(reason). It is tried again."
        case .deadline(let url, let phase): "\(url) took too long (\(phase)). It is tried again; see fetch.deadlines."
        case .status(let url, let status) where status == 404 || status == 410:
            "The origin answered \(status) for \(url). Check that the source still exists."
        case .status(let url, let status) where status == 401 || status == 403:
            "The origin answered \(status) for \(url). Check that the worker may read it."
        case .status(let url, let status) where status == 429 || status >= 500:
            "The origin answered \(status) for \(url). It is tried again."
        case .status(let url, let status): "The origin answered \(status) for \(url), which is no picture. Check the URL."
        case .redirects(let url, let limit): "\(url) redirects more than \(limit) times. Point the job at the final URL."
        case .badRedirect(let url, let to): "\(url) redirects to \(to), which is not an http or https URL. Correct the origin."
        case .tooLarge(let url, let limit): "\(url) is larger than \(limit) bytes. Raise fetch.byteLimit to accept it."
        case .empty(let url): "\(url) has an empty body. Check the source at its origin."
        case .truncated(let url): "The body of \(url) ended before its length. It is tried again."
        case .encoded(let url, let encoding):
            "\(url) came with content encoding \(encoding), though none was accepted. Correct the origin."
        case .badAnswer(let url, let reason): "The answer for \(url) is not proper HTTP: \(reason). Correct the origin."
        case .noSpace(let reason): "There was no room for a body: \(reason). It is tried again."
        case .cancelled: "The fetch was given up because the worker is stopping. It is tried again."
        }
    }

    package var verdict: Verdict {
        switch self {
        case .status(_, let status): status == 429 || status == 408 || status >= 500 ? .retry : .fail
        case .resolution, .connection, .deadline, .truncated: .retry
        case .noSpace, .cancelled: .wait
        case .invalidURL, .refusedAddress, .redirects, .badRedirect, .tooLarge, .empty, .encoded, .badAnswer: .fail
        }
    }

    package static let catalogue = [
        CodeEntry("fetch.invalid-url", "The URL is not one that can be fetched.", .fail),
        CodeEntry("fetch.refused-address", "The address guard refuses the address that the URL leads to.", .fail),
        CodeEntry("fetch.resolution", "The host name has no address.", .retry),
        CodeEntry("fetch.connection", "The connection could not be made or broke.", .retry),
        CodeEntry("fetch.deadline", "A deadline passed: DNS, connect, first byte, whole, or too slow a flow.", .retry),
        CodeEntry("fetch.not-found", "The origin answered 404 or 410.", .fail),
        CodeEntry("fetch.forbidden", "The origin answered 401 or 403.", .fail),
        CodeEntry("fetch.too-many-requests", "The origin answered 429.", .retry),
        CodeEntry("fetch.server-error", "The origin answered 5xx.", .retry),
        CodeEntry("fetch.status", "The origin answered with another status that is no success (408 is tried again).", .fail),
        CodeEntry("fetch.redirects", "More redirects than allowed.", .fail),
        CodeEntry("fetch.bad-redirect", "A redirect leads to something that is no http or https URL.", .fail),
        CodeEntry("fetch.too-large", "The body is over the byte limit.", .fail),
        CodeEntry("fetch.empty", "The body is empty.", .fail),
        CodeEntry("fetch.truncated", "The body ended before its declared length.", .retry),
        CodeEntry("fetch.encoded", "The body is compressed, though identity was asked for.", .fail),
        CodeEntry("fetch.bad-answer", "The answer is not proper HTTP, or its headers are over 32 KiB.", .fail),
        CodeEntry("fetch.no-space", "There was no memory or disk for the body.", .wait),
        CodeEntry("fetch.cancelled", "The worker stopped meanwhile.", .wait),
    ]
}
