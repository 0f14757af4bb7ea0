/// Where a store or a part of one is, for people, with its adapter's words on what to do about it.
package struct StorePlace: Sendable, Hashable, CustomStringConvertible {
    package let description: String
    package let remedies: Remedies

    /// Sentences of an adapter that end its failures' texts.
    package struct Remedies: Sendable, Hashable {
        /// If the store as a whole cannot be written.
        package let unwritable: String
        /// If one blob cannot be read.
        package let unreadable: String
        /// If no identity is found: what may have happened to the store.
        package let missing: String

        package init(
            unwritable: String = "Give this worker the right to write it.",
            unreadable: String = "Remove it: it is made again when it is needed.",
            missing: String = "The store was emptied, or is not reachable here."
        ) {
            (self.unwritable, self.unreadable, self.missing) = (unwritable, unreadable, missing)
        }
    }

    package init(_ description: String, _ remedies: Remedies = Remedies()) {
        (self.description, self.remedies) = (description, remedies)
    }
}
