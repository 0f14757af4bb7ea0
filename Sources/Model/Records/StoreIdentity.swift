/// Identity of a store, independent of its path: 32 hexadecimal digits, drawn once.
///
/// Rows name files of one store. They are bound to its identity, so that an empty folder, or another cluster's store,
/// is not mistaken for it.
package struct StoreIdentity: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    package init(drawnFrom random: inout some RandomNumberGenerator) {
        description = (0..<32).map { _ in String(UInt8.random(in: 0..<16, using: &random), radix: 16) }.joined()
    }

    /// nil if the text is not an identity.
    package init?(_ text: String) {
        guard text.utf8.count == 32, text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else {
            return nil
        }
        description = text
    }
}
