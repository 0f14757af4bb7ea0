/// Content of a W3C `traceparent`: the trace, the parent span, and whether its publisher has it sampled.
package struct TraceContext: Sendable, Hashable {
    /// 32 lower-case hexadecimal digits.
    package let trace: String
    /// 16 lower-case hexadecimal digits; nil at the root.
    package let parent: String?
    package let isSampled: Bool

    package init(trace: String, parent: String?, isSampled: Bool) {
        (self.trace, self.parent, self.isSampled) = (trace, parent, isSampled)
    }

    /// nil if the text is not of version 00, or has an all-zero id, which the standard declares invalid.
    package init?(_ traceparent: String) {
        let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "00", Self.isID(parts[1], 32), Self.isID(parts[2], 16),
            Self.isHex(parts[3], 2), let flags = UInt8(parts[3], radix: 16)
        else { return nil }
        (trace, parent, isSampled) = (String(parts[1]), String(parts[2]), flags & 1 == 1)
    }

    /// Whether a trace without a publisher's decision belongs to the sampled share. Every worker decides the same.
    package static func isSampled(_ trace: String, share: Double) -> Bool {
        guard share < 1 else { return true }
        guard let tail = UInt64(trace.suffix(14), radix: 16) else { return false }
        return Double(tail) < share * 0x1p56
    }

    private static func isID(_ text: Substring, _ count: Int) -> Bool {
        isHex(text, count) && text.utf8.contains { $0 != UInt8(ascii: "0") }
    }

    private static func isHex(_ text: Substring, _ count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}
