/// Number formatting for operators and scripts, without Foundation, which would take six mebibytes of every worker.
package enum Figure {
    /// `812 B`, `12.9 MiB`.
    package static func bytes(_ count: Int) -> String {
        let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        guard let (factor, unit) = units.first(where: { count >= $0.0 }) else { return "\(count) B" }
        return text(Double(count) / Double(factor), digits: 1) + " " + unit
    }

    /// The value with `digits` (at most 9) after the point, rounded half away from zero. Values without such a text are
    /// 0.
    package static func text(_ value: Double, digits: Int) -> String {
        var scale: Int64 = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int64(exactly: (value * Double(scale)).rounded()) ?? 0
        let (whole, rest) = scaled.magnitude.quotientAndRemainder(dividingBy: UInt64(scale))
        let sign = scaled < 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(whole)" }
        let fraction = "\(rest)"
        return "\(sign)\(whole)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
