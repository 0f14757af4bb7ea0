package import Canonical
package import Digest
package import HTTPCache
package import ImageModel
package import Posix

/// One source to bring here.
package struct FetchRequest: Sendable, Hashable {
    package let url: SourceURL
    package let lane: Lane
    /// What is known of it: the origin is asked whether that still holds. nil: for the whole of it.
    package let known: CachePolicy?

    package init(url: SourceURL, lane: Lane, known: CachePolicy? = nil) {
        (self.url, self.lane, self.known) = (url, lane, known)
    }
}

/// What an answer's head said that caching goes by.
package struct AnswerHead: Sendable {
    package var fields = AnswerFields([])
    /// The headers that were sent, less the conditions.
    package var sent: [(name: String, value: String)] = []
    /// Since its request was begun, milliseconds.
    package var elapsed: Int64 = 0
    /// Who answered, where redirects led elsewhere.
    package var location: String?

    package init() {}
}

/// What an origin answers who asks for a source.
package enum FetchAnswer: Sendable {
    case source(FetchedSource)
    /// What is known of it still holds.
    case notModified(AnswerHead)
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
    package init(source: FetchedSource, picture: Picture) { (self.source, self.picture) = (source, picture) }
}

/// Brings sources from their origins, under the address guard.
///
/// - Failure: within the deadlines of the configuration; a cancelled task ends its transfer.
package protocol Fetcher: Sendable {
    func fetch(_ request: FetchRequest) async throws(FetchFailure) -> FetchAnswer
}
