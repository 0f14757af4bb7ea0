internal import VariantSpec

/// Syntax that asks for a variant in the URL itself, in its query or its path.
///
/// A new dialect needs a case, a name and a reader; all other code uses these.
package enum URLDialect: String, Sendable, Hashable, CaseIterable {
    /// NOS: `?imageView&thumbnail=80x80&type=webp`.
    case imageView

    /// Name for messages.
    package var name: String {
        switch self {
        case .imageView: "NOS imageView"
        }
    }

    /// Request that the dialect reads in a URL; nil if the URL is not of this dialect.
    func request(in url: DialectURL) throws(URLFault) -> DialectRequest? {
        switch self {
        case .imageView: try ImageViewRequest.request(in: url)
        }
    }
}

/// Parts of a URL that dialects read, in canonical form.
struct DialectURL {
    let path: ArraySlice<UInt8>
    let query: URLQuery?
    let defaults: DefaultQualities
}

/// Request of a dialect URL, and the parts of the URL that express it.
///
/// The other parts name the source. If they are a dialect's request again, the URL is refused.
struct DialectRequest {
    let spec: VariantSpec
    /// Whether the spec is used as written, not rounded up to size steps.
    var isExact = false
    /// Part of the path that belongs to the dialect. The rest of the path begins with a slash.
    var path: Range<Int>?
    /// Indices of the query's pairs that belong to the dialect.
    var pairs: Set<Int> = []
}
