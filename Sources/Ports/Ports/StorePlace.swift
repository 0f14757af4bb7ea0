/// Location of a store or of a part of one, for messages, with its adapter's advice.
package struct StorePlace: Sendable, Hashable, CustomStringConvertible {
    package let description: String
    package let remedies: Remedies

    /// Advice of an adapter, in sentences that end the messages of failures.
    package struct Remedies: Sendable, Hashable {
        /// Advice if the whole store cannot be written.
        package let unwritable: String
        /// Advice if one blob cannot be read.
        package let unreadable: String
        /// Explanation if no identity is found: the possible state of the store.
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
