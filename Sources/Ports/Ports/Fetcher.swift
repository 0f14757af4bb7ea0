package import Canonical
package import Digest
package import HTTPCache
package import ImageModel
package import Images
package import Posix

/// One source to bring here.
package struct FetchRequest: Sendable, Hashable {
    package let url: SourceURL
    package let lane: Lane
    /// What is known of it: the origin is asked whether that still holds. nil: for the whole of it.
    package let known: CachePolicy?
    /// Where an answer led; nil: the URL itself is asked.
    package let redirect: Redirect?
    /// Whether pixels must tell if the source's alpha shows: a format is chosen by it.
    package let needsAlpha: Bool

    package init(
        url: SourceURL, lane: Lane, known: CachePolicy? = nil, redirect: Redirect? = nil, needsAlpha: Bool = false
    ) {
        (self.url, self.lane, self.known, self.redirect) = (url, lane, known, redirect)
        self.needsAlpha = needsAlpha
    }
}

/// Where an answer led, and what the fetch has used up by then: all its hops share one limit and one deadline.
package struct Redirect: Sendable, Hashable {
    package let url: String
    /// The server that it asks.
    package let host: OriginHost
    /// How often the fetch was led elsewhere, this time included.
    package let hop: Int
    /// Of the deadline of the whole, and of the time that it may wait for free connections.
    package let spent: Duration
    package let waited: Duration
    /// What the answers that led there say of caching.
    package let hops: [RedirectHop]

    package init(
        to url: String, at host: OriginHost, hop: Int, spent: Duration = .zero, waited: Duration = .zero,
        hops: [RedirectHop] = []
    ) {
        (self.url, self.host, self.hop, self.spent, self.waited, self.hops) = (url, host, hop, spent, waited, hops)
    }
}

/// What an answer's head said that caching goes by.
package struct AnswerHead: Sendable {
    package var fields = AnswerFields([])
    /// The headers that were sent, less the conditions.
    package var sent: [(name: String, value: String)] = []
    /// Since its request was begun.
    package var elapsed = Duration.zero
    /// Who answered, where redirects led elsewhere; and what these said of caching.
    package var location: String?
    package var hops: [RedirectHop] = []

    package init() {}
}

/// What an origin answers who asks for a source.
package enum FetchAnswer: Sendable {
    case source(FetchedSource)
    /// Its first bytes say that it can't be rendered; the rest was not fetched.
    case refused(RenderFailure, AnswerHead)
    /// What is known of it still holds.
    case notModified(AnswerHead)
    /// It is to be asked for elsewhere: that is another host's to allow, perhaps.
    case redirected(Redirect)
}

/// A source's bytes, in an anonymous file outside the worker's heap.
package struct FetchedSource: Sendable {
    package let body: OpenFile
    package let digest: SHA256Digest
    package let head: AnswerHead

    package init(body: OpenFile, digest: SHA256Digest, head: AnswerHead = AnswerHead()) {
        (self.body, self.digest, self.head) = (body, digest, head)
    }

    package var version: SourceVersion { SourceVersion(digest) }
    package var bytes: Int { body.length }
}

/// A source, and what its header says.
package struct FetchedPicture: Sendable {
    package let source: FetchedSource
    package let picture: Picture
    /// Whether the alpha of its facts is the header's word alone.
    package let isAlphaUnchecked: Bool

    package init(source: FetchedSource, picture: Picture, isAlphaUnchecked: Bool = false) {
        (self.source, self.picture, self.isAlphaUnchecked) = (source, picture, isAlphaUnchecked)
    }
}

/// Brings sources from their origins, under the address guard: one request, and its answer.
///
/// - Failure: within the deadlines of the configuration; a cancelled task ends its transfer.
package protocol Fetcher: Sendable {
    func fetch(_ request: FetchRequest) async throws(FetchFailure) -> FetchAnswer
}
