internal import Digest
package import VariantSpec

/// What a received URL names: where to fetch it, its one name, and the derivative that the URL itself asks for.
package struct CanonicalSource: Sendable, Hashable {
    /// The received bytes less the fragment and less a dialect's own parts, an international host as A-labels; otherwise
    /// never re-serialised, but for a path that a dialect had a part of.
    package let fetchURL: String
    package let key: SourceKey
    /// The alias group of its host, if it has one.
    package let aliasGroup: String?
    /// What a dialect URL asks for; nil where the URL only names a source.
    package let variant: VariantSpec?
    private let canonical: [UInt8]

    /// `originGroup`: of a group of origins that is asked with headers of its own.
    init(fetchURL: String, canonical: [UInt8], aliasGroup: String?, originGroup: String?, variant: VariantSpec?) {
        self.fetchURL = fetchURL
        self.canonical = canonical
        self.aliasGroup = aliasGroup
        self.variant = variant
        key = Self.key(aliasGroup: aliasGroup, canonical: canonical, originGroup: originGroup)
    }

    /// The canonical URL: what people see, and a spelling that every rule leaves as it is.
    package var url: String { String(decoding: canonical, as: UTF8.self) }

    /// SHA-256 over three fields, each a big-endian 32-bit count of its bytes and then the bytes: the form's version
    /// `n1`, the alias group's id (empty if there is none), the canonical URL; and a fourth, the origin group's name, where
    /// that group has headers of its own: with them another picture may be served.
    ///
    /// Lengths are hashed so that no two lists of fields run into the same bytes.
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

/// One rule at work, for people who ask why a URL became what it is.
package struct CanonicalStep: Sendable, Hashable {
    /// The rule's name, as the reference page has it.
    package let rule: String
    package let before: String
    package let after: String
    package init(rule: String, before: String, after: String) {
        (self.rule, self.before, self.after) = (rule, before, after)
    }
}
