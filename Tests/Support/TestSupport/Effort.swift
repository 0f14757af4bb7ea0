internal import Foundation

/// How often the tests try what they try many times, as `ops/test` says by MEZZOTINT_TESTS.
package enum Effort: String {
    case fast, landing, all

    package static let asked: Effort = {
        guard let word = ProcessInfo.processInfo.environment["MEZZOTINT_TESTS"] else { return .landing }
        guard let effort = Effort(rawValue: word) else {
            preconditionFailure("MEZZOTINT_TESTS is \(word): it may be fast, landing or all.")
        }
        return effort
    }()

    /// A count; `variable`, where it is set, says another. What is not given for `fast` is as for a landing.
    package static func count(_ variable: String? = nil, fast: Int? = nil, landing: Int, all: Int) -> Int {
        if let said = variable.flatMap({ ProcessInfo.processInfo.environment[$0] }).flatMap({ Int($0) }) { return said }
        return switch asked {
        case .fast: fast ?? landing
        case .landing: landing
        case .all: all
        }
    }
}
