internal import JSONText

/// A family of metrics: one row of a program's metrics table.
package protocol MetricFamily: RawRepresentable<String> {
    /// `counter`, `gauge` or `histogram`.
    var type: String { get }
    var labels: [String] { get }
    /// Meaning, as a sentence.
    var meaning: String { get }
}

/// Metrics in Prometheus's text format 0.0.4.
package struct MetricsPage: Sendable {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// One value of a family, with its labels' values in the order of its family's `labels`.
    package struct Sample: Sendable {
        package let labels: [String]
        package let value: Double

        package init(_ value: Double, _ labels: String...) { (self.labels, self.value) = (labels, value) }
        package init(_ value: some BinaryInteger, _ labels: String...) {
            (self.labels, self.value) = (labels, Double(value))
        }
    }

    package private(set) var text = ""

    package init() {}

    /// Adds a family with all its samples, as the format requires. A family without samples is only described.
    package mutating func add(_ metric: some MetricFamily, _ samples: [Sample]) {
        describe(metric)
        for sample in samples {
            line(metric.rawValue, Array(zip(metric.labels, sample.labels)), sample.value)
        }
    }

    /// A family of histograms, by their labels' values.
    package mutating func add(_ metric: some MetricFamily, histograms: [(labels: [String], histogram: Histogram)]) {
        describe(metric)
        for (values, histogram) in histograms {
            let labels = Array(zip(metric.labels, values))
            let bounds = histogram.bounds.map(Self.number) + ["+Inf"]
            for (bound, count) in zip(bounds, histogram.cumulative) {
                line("\(metric.rawValue)_bucket", labels + [("le", bound)], Double(count))
            }
            line("\(metric.rawValue)_sum", labels, histogram.sum)
            line("\(metric.rawValue)_count", labels, Double(histogram.count))
        }
    }

    private mutating func describe(_ metric: some MetricFamily) {
        text += "# HELP \(metric.rawValue) \(Self.escaped(metric.meaning, isLabel: false))\n"
        text += "# TYPE \(metric.rawValue) \(metric.type)\n"
    }

    private mutating func line(_ name: String, _ labels: [(String, String)], _ value: Double) {
        let labels = labels.map { "\($0)=\"\(Self.escaped($1, isLabel: true))\"" }
        text += name + (labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}") + " \(Self.number(value))\n"
    }

    /// Formats whole numbers without an exponent, because counters of bytes are larger than people read as powers of
    /// ten.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    private static func escaped(_ text: String, isLabel: Bool) -> String {
        var out = ""
        for scalar in PlainText.of(text, keepingLines: true).unicodeScalars {
            switch scalar {
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\"" where isLabel: out += "\\\""
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
