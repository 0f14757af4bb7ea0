package import Records

/// Whether the store that is there may be taken for the one that a partition's rows name files of.
package enum StoreBinding: Sendable, Hashable {
    /// It is the one.
    case bound
    /// The rows are to be bound to it: they are from before identities, or there are none, or a person said so.
    /// One that is not whole only a person's word makes whole.
    case adopt
    /// Jobs wait for the other.
    case foreign

    /// - Parameters:
    ///   - rows: what the partition's rows are bound to.
    ///   - isEmpty: whether the store holds nothing.
    ///   - isWhole: whether all its folders are of this one store.
    ///   - adopts: `store.adopt`.
    package init(
        rows: StoreIdentity?, hasRows: Bool, found: StoreIdentity?, isEmpty: Bool, isWhole: Bool, adopts: Bool
    ) {
        if !isWhole {
            self = adopts ? .adopt : .foreign
        } else if let rows {
            self = rows == found ? .bound : adopts ? .adopt : .foreign
        } else {
            // A store from before identities has blobs where there are rows, and is adopted once.
            // One that is empty is not theirs, though another partition may have given it an identity a moment ago.
            self = isEmpty && hasRows && !adopts ? .foreign : .adopt
        }
    }
}
