package import Canonical
package import Digest
package import HTTPCache
package import ImageModel
package import Images
package import Posix

/// Request to fetch one source.
package struct FetchRequest: Sendable, Hashable {
    package let url: SourceURL
    package let lane: Lane
    /// Stored caching headers for revalidation; nil to fetch the whole source.
    package let known: CachePolicy?
    /// Redirect to follow; nil to request the URL itself.
    package let redirect: Redirect?
    /// Whether the pixels must show if the source is transparent, because a format is chosen by it.
    package let needsAlpha: Bool

    package init(
        url: SourceURL, lane: Lane, known: CachePolicy? = nil, redirect: Redirect? = nil, needsAlpha: Bool = false
    ) {
        (self.url, self.lane, self.known, self.redirect) = (url, lane, known, redirect)
        self.needsAlpha = needsAlpha
    }
}

/// Target of a redirect, and the resources used so far: all hops of a fetch share one limit and one deadline.
package struct Redirect: Sendable, Hashable {
    package let url: String
    /// Server of the target.
    package let host: OriginHost
    /// Number of redirects so far, this one included.
    package let hop: Int
    /// Time used of the total deadline; `waited` is the time used of the wait for free connections.
    package let spent: Duration
    package let waited: Duration
    /// Caching headers of the redirects so far.
    package let hops: [RedirectHop]

    package init(
        to url: String, at host: OriginHost, hop: Int, spent: Duration = .zero, waited: Duration = .zero,
        hops: [RedirectHop] = []
    ) {
        (self.url, self.host, self.hop, self.spent, self.waited, self.hops) = (url, host, hop, spent, waited, hops)
    }
}

/// Head of a response, as far as caching needs it.
package struct ResponseHead: Sendable {
    package var fields = ResponseFields([])
    /// Headers that were sent, without the conditional ones.
    package var sent: [(name: String, value: String)] = []
    /// Time since the start of the request.
    package var elapsed = Duration.zero
    /// Final URL after redirects; `hops` has the caching headers of the redirects.
    package var location: String?
    package var hops: [RedirectHop] = []

    package init() {}
}

/// Result of a fetch.
package enum FetchResponse: Sendable {
    case source(FetchedSource)
    /// Its first bytes show that it cannot be rendered; the rest was not fetched.
    case refused(RenderFailure, ResponseHead)
    /// The stored version is still current.
    case notModified(ResponseHead)
    /// The source is elsewhere, perhaps on a host with limits of its own.
    case redirected(Redirect)
}

/// Bytes of a source, in an anonymous file outside the worker's heap.
package struct FetchedSource: Sendable {
    package let body: OpenFile
    package let digest: SHA256Digest
    package let head: ResponseHead

    package init(body: OpenFile, digest: SHA256Digest, head: ResponseHead = ResponseHead()) {
        (self.body, self.digest, self.head) = (body, digest, head)
    }

    package var version: SourceVersion { SourceVersion(digest) }
    package var bytes: Int { body.length }
}

/// A source with the facts of its header.
package struct FetchedPicture: Sendable {
    package let source: FetchedSource
    package let picture: Picture
    /// Whether the alpha of its facts comes from the header alone, without a look at the pixels.
    package let isAlphaUnchecked: Bool

    package init(source: FetchedSource, picture: Picture, isAlphaUnchecked: Bool = false) {
        (self.source, self.picture, self.isAlphaUnchecked) = (source, picture, isAlphaUnchecked)
    }
}

/// Port that fetches sources from their origins, under the address guard. Each call is one request and its response.
///
/// - Failure: within the configured deadlines; if the task is cancelled, the transfer ends.
package protocol Fetcher: Sendable {
    /// - Parameter nearlyDone: called at most once, from any thread, when 90 % of a body of declared length have arrived. A short body
    ///   may end without it.
    func fetch(
        _ request: FetchRequest, nearlyDone: @escaping @Sendable () -> Void
    ) async throws(FetchFailure) -> FetchResponse
}

extension Fetcher {
    package func fetch(_ request: FetchRequest) async throws(FetchFailure) -> FetchResponse {
        try await fetch(request, nearlyDone: {})
    }
}
