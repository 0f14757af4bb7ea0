package import Canonical
package import Digest
package import ImageModel
package import Posix

/// One source to bring here.
package struct FetchRequest: Sendable, Hashable {
    package let url: SourceURL
    package let lane: Lane
    package init(url: SourceURL, lane: Lane) { (self.url, self.lane) = (url, lane) }
}

/// A source's bytes, in an anonymous file outside the worker's heap.
package struct FetchedSource: Sendable {
    package let body: OpenFile
    package let digest: SHA256Digest

    package init(body: OpenFile, digest: SHA256Digest) { (self.body, self.digest) = (body, digest) }

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
    func fetch(_ request: FetchRequest) async throws(FetchFailure) -> FetchedSource
}
