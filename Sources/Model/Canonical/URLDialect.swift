internal import VariantSpec

/// A way to ask for a derivative in the URL itself, in its query or in its path.
///
/// A dialect is a case, a name and a reader; everything else goes by these.
package enum URLDialect: String, Sendable, Hashable, CaseIterable {
    /// NOS: `?imageView&thumbnail=80x80&type=webp`.
    case imageView

    /// For people.
    package var name: String {
        switch self {
        case .imageView: "NOS imageView"
        }
    }

    /// What it reads in a URL; nil where the URL is not of this dialect.
    func request(in url: DialectURL) throws(URLFault) -> DialectRequest? {
        switch self {
        case .imageView: try ImageViewRequest.request(in: url)
        }
    }
}

/// What dialects read of a URL, in canonical form.
struct DialectURL {
    let path: ArraySlice<UInt8>
    let query: URLQuery?
    let defaults: DefaultQualities
}

/// What a URL of a dialect asks for, and which of its parts say so.
///
/// The other parts name the source. A URL whose other parts are of a dialect again is refused.
struct DialectRequest {
    let spec: VariantSpec
    /// Not brought to a tier.
    var isExact = false
    /// The part of the path that is the dialect's; what is left begins with a slash.
    var path: Range<Int>?
    /// Places of the query's pairs that are the dialect's.
    var pairs: Set<Int> = []
}
