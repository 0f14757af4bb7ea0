import Clocks
import TestSupport
import Testing

@testable import Watch

/// A fault, what is staged for it, and what the first sentence must say within 15 seconds.
struct StagedFault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let cause: Cause
    let says: [String]
    /// A part of what is to be done; nil: the cause's own action.
    let asks: String?
    let stage: @Sendable (inout Scene) -> Void

    init(
        _ name: String, _ cause: Cause, _ says: [String], asks: String? = nil,
        _ stage: @escaping @Sendable (inout Scene) -> Void
    ) {
        (testDescription, self.cause, self.says, self.asks, self.stage) = (name, cause, says, asks, stage)
    }

    static let all = outside + jobs
}
