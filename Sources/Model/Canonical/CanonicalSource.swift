internal import Digest
package import VariantSpec

/// Result of reading a URL: the URL to fetch, the source's key, and the variant that the URL itself asks for.
package struct CanonicalSource: Sendable, Hashable {
    /// The received bytes without the fragment and without a dialect's own parts, with an international host as
    /// A-labels. The rest is never re-serialised, except a path that contained a dialect's part.
    package let fetchURL: String
    package let key: SourceKey
    /// Alias group of the host, if it has one.
    package let aliasGroup: String?
    /// Variant that a dialect URL asks for; nil if the URL only names a source.
    package let variant: VariantSpec?
    private let canonical: [UInt8]

    /// - Parameter originGroup: group of origins that the host belongs to, if the group sends headers of its own.
    init(fetchURL: String, canonical: [UInt8], aliasGroup: String?, originGroup: String?, variant: VariantSpec?) {
        self.fetchURL = fetchURL
        self.canonical = canonical
        self.aliasGroup = aliasGroup
        self.variant = variant
        key = Self.key(aliasGroup: aliasGroup, canonical: canonical, originGroup: originGroup)
    }

    /// Canonical URL: the URL that people see. Every rule leaves it unchanged.
    package var url: String { String(decoding: canonical, as: UTF8.self) }

    /// SHA-256 over three or four fields, each a big-endian 32-bit count of its bytes and then the bytes.
    ///
    /// The fields are the form's version `n1`, the alias group's id (empty if there is none), and the canonical URL. A
    /// fourth field is the origin group's name if that group sends headers of its own, because another image may be
    /// served with them.
    ///
    /// Lengths are hashed so that two different lists of fields never give the same bytes.
    private static func key(aliasGroup: String?, canonical: [UInt8], originGroup: String?) -> SourceKey {
        var message: [UInt8] = []
        message.reserveCapacity(canonical.count + 32)
        func append(_ field: some Collection<UInt8>) {
            let count = UInt32(field.count)
            message.append(UInt8(truncatingIfNeeded: count >> 24))
            message.append(UInt8(truncatingIfNeeded: count >> 16))
            message.append(UInt8(truncatingIfNeeded: count >> 8))
            message.append(UInt8(truncatingIfNeeded: count))
            message.append(contentsOf: field)
        }
        append(CanonicalRules.version.utf8)
        append((aliasGroup ?? "").utf8)
        append(canonical)
        if let originGroup { append(originGroup.utf8) }
        return SourceKey(SHA256.digest(of: message))
    }
}

/// Effect of one rule, for people who ask how a URL got its canonical form.
package struct CanonicalStep: Sendable, Hashable {
    /// Name of the rule, as on the reference page.
    package let rule: String
    package let before: String
    package let after: String
    package init(rule: String, before: String, after: String) {
        (self.rule, self.before, self.after) = (rule, before, after)
    }
}
