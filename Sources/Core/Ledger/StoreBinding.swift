package import Records

/// Whether the configured store may be used for a partition whose rows name files in a store.
package enum StoreBinding: Sendable, Hashable {
    /// The store is the one that the rows are bound to.
    case bound
    /// The rows are to be bound to this store: they are older than store identities, or there are none, or an operator
    /// allows it. Only an operator can declare an incomplete store complete.
    case adopt
    /// The store is another one. Jobs wait for the right one.
    case mismatched

    /// - Parameters:
    ///   - rows: the store that the partition's rows are bound to.
    ///   - isEmpty: whether the store holds nothing.
    ///   - isWhole: whether all its folders belong to this one store.
    ///   - adopts: `store.adopt`.
    package init(
        rows: StoreIdentity?, hasRows: Bool, found: StoreIdentity?, isEmpty: Bool, isWhole: Bool, adopts: Bool
    ) {
        if !isWhole {
            self = adopts ? .adopt : .mismatched
        } else if let rows {
            self = rows == found ? .bound : adopts ? .adopt : .mismatched
        } else {
            // A store from before identities has blobs if there are rows, and is adopted once. An empty store does not
            // belong to the rows, even if another partition gave it an identity a moment ago.
            self = isEmpty && hasRows && !adopts ? .mismatched : .adopt
        }
    }
}
