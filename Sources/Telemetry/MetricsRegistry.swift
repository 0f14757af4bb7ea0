internal import Synchronization

/// Counters, gauges and histograms by name and labels, and their text for Prometheus.
///
/// The words are swift-metrics's. Ask once and keep what is given: asking takes a lock, counting does not.
///
/// Labels are bounded: after `seriesLimit` sets of values a metric counts every other one under `other`, so that no
/// input, however hostile, grows the memory. Never label by URL, host or key.
package final class MetricsRegistry: Sendable {
    package typealias Labels = KeyValuePairs<String, String>

    enum Instrument: Sendable {
        case counter(Counter)
        case gauge(Gauge)
        case histogram(Histogram)
    }

    struct Family: Sendable {
        let help: String
        /// By the labels as they are written: `{lane="fast"}`, or empty.
        var series: [String: Instrument] = [:]
    }

    private let families = Mutex<[String: Family]>([:])
    private let seriesLimit: Int

    package init(seriesLimit: Int = 100) { self.seriesLimit = max(1, seriesLimit) }

    package func counter(_ name: String, _ help: String, _ labels: Labels = [:]) -> Counter {
        guard case .counter(let counter) = instrument(name, help, labels, { .counter(Counter()) }) else { clash(name) }
        return counter
    }

    package func gauge(_ name: String, _ help: String, _ labels: Labels = [:]) -> Gauge {
        guard case .gauge(let gauge) = instrument(name, help, labels, { .gauge(Gauge()) }) else { clash(name) }
        return gauge
    }

    package func histogram(
        _ name: String, _ help: String, _ labels: Labels = [:], bounds: [Double] = Histogram.seconds
    ) -> Histogram {
        let made = instrument(name, help, labels) { .histogram(Histogram(bounds: bounds)) }
        guard case .histogram(let histogram) = made else { clash(name) }
        return histogram
    }

    private func instrument(_ name: String, _ help: String, _ labels: Labels, _ make: () -> Instrument) -> Instrument {
        precondition(Self.isName(name) && labels.allSatisfy { Self.isName($0.key) }, "\(name) is no name of a metric")
        return families.withLock { families in
            var family = families[name] ?? Family(help: help)
            var key = Self.text(labels.map { ($0.key, $0.value) })
            if family.series[key] == nil, family.series.count >= seriesLimit {
                key = Self.text(labels.map { ($0.key, "other") })
            }
            if let known = family.series[key] { return known }
            let made = make()
            family.series[key] = made
            families[name] = family
            return made
        }
    }

    /// A programmer's mistake, not an input's.
    private func clash(_ name: String) -> Never { preconditionFailure("the metric \(name) is of another kind") }

    private static func isName(_ text: String) -> Bool {
        let isWord = text.utf8.allSatisfy { $0 == 0x5F || $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 26 }
        return isWord && !text.isEmpty && text.utf8.first.map { $0 &- 0x30 >= 10 } == true
    }

    private static func text(_ labels: [(String, String)]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0)=\"\(escaped($1, quotes: true))\"" }.joined(separator: ",") + "}"
    }

    /// All metrics in Prometheus's text format 0.0.4, by name.
    package var exposition: String {
        let families = families.withLock { $0 }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# HELP \(name) \(Self.escaped(family.help, quotes: false))\n"
            let series = family.series.sorted { $0.key < $1.key }
            text += "# TYPE \(name) \(series[0].value.kind)\n"
            for (labels, instrument) in series {
                switch instrument {
                case .counter(let counter): text += "\(name)\(labels) \(counter.value)\n"
                case .gauge(let gauge): text += "\(name)\(labels) \(Self.number(gauge.value))\n"
                case .histogram(let histogram): text += Self.lines(of: histogram, name, labels)
                }
            }
        }
        return text
    }

    private static func lines(of histogram: Histogram, _ name: String, _ labels: String) -> String {
        let snapshot = histogram.snapshot
        var text = ""
        var total: Int64 = 0
        for (count, bound) in zip(snapshot.counts, histogram.bounds + [.infinity]) {
            total += count
            let bound = "le=\"\(number(bound))\""
            text += "\(name)_bucket\(labels.isEmpty ? "{\(bound)}" : labels.dropLast() + ",\(bound)}") \(total)\n"
        }
        return text + "\(name)_sum\(labels) \(number(snapshot.sum))\n\(name)_count\(labels) \(total)\n"
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var out = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\"" where quotes: out += "\\\""
            default: out.unicodeScalars.append(character)
            }
        }
        return out
    }
}

extension MetricsRegistry.Instrument {
    fileprivate var kind: String {
        switch self {
        case .counter: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        }
    }
}
