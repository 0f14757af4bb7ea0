/// Settings that had another name before 0.2.0: the error for an old name states the new one.
extension Settings {
    static let renamed = [
        "fetch.slowest": "fetch.minRate", "fetch.deadlines.dns": "fetch.timeouts.dns",
        "fetch.deadlines.connect": "fetch.timeouts.connect", "fetch.deadlines.firstByte": "fetch.timeouts.firstByte",
        "fetch.deadlines.whole": "fetch.timeouts.total", "render.belowSource": "render.capAtSourceSize",
        "retry.giveUp.fast": "retry.retryFor.fast", "retry.giveUp.slow": "retry.retryFor.slow",
        "kafka.security.kind": "kafka.security.protocol",
        "kafka.timing.answer": "kafka.timing.response",
        "canonical.specTiers": "canonical.roundSizes",
    ]

    /// New name of a setting, or of a group of settings; nil: it was not renamed.
    static func newName(of name: String) -> String? {
        if let new = renamed[name] { return new }
        let inGroup = renamed.first { $0.key.hasPrefix(name + ".") }?.value
        return inGroup.map { String($0[..<($0.lastIndex(of: ".") ?? $0.endIndex)]) }
    }
}
