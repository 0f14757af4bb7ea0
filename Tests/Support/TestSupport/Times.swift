package import Clocks

/// Tables of times are read more easily as numbers: tests write times and durations as milliseconds.
extension WallTime: ExpressibleByIntegerLiteral {
    package init(integerLiteral milliseconds: Int64) { self.init(milliseconds: milliseconds) }
}

extension Instant: ExpressibleByIntegerLiteral {
    package init(integerLiteral milliseconds: Int64) { self.init(milliseconds: milliseconds) }
}

extension Duration: @retroactive ExpressibleByIntegerLiteral {
    public init(integerLiteral milliseconds: Int64) { self = .milliseconds(milliseconds) }
}
