package import Clocks
internal import Telemetry

/// One worker by its metrics, or its failure to respond.
package struct WorkerSight: Sendable {
    /// Address where it was asked.
    package let address: String
    package let answer: Answer

    package enum Answer: Sendable {
        case figures(WorkerFigures)
        case silent(String)
    }

    package init(_ address: String, _ answer: Answer) { (self.address, self.answer) = (address, answer) }
}

/// Values from a worker's metrics. A value that a version does not export is nil, never 0.
package struct WorkerFigures: Sendable, Equatable {
    package struct Use: Sendable, Equatable {
        package var used: Int?
        package var all: Int?
    }

    /// Sources in one step of their work.
    package struct Step: Sendable, Equatable {
        package var sources: Int?
        /// Time without progress of the oldest source in the step.
        package var oldest: Duration?
    }

    package var version: String?
    package var client: String?
    package var owned: Int?
    package var restoring: Int?
    package var rowsLeft: Int?
    package var fetchPermits = Use()
    package var renderPermits = Use()
    package var rendererLosses: Int?
    package var memory: Int?
    package var rendererMemory: Int?
    /// By name, from `stepNames`.
    package var steps: [String: Step] = [:]
    package var started: WallTime?
    /// Processes of it that did not end cleanly; nil: they are not counted.
    package var crashes: Int?
    /// Bytes that may still be written, by content of the folder: store, or data.
    package var diskFree: [String: Int] = [:]
    /// Lead of its clock over the brokers'; below 0: it is behind.
    package var clockSkew: Duration?
    /// Stages that failed since its start, by code.
    package var failures: [String: Double] = [:]
    /// The last log line of the previous process.
    package var lastLine: String?

    /// Creates the figures from a page in Prometheus's text format; nil if it is no worker's.
    ///
    /// Unknown families are skipped, so that a worker of another version is shown by the families that are known.
    package init?(_ page: String) {
        var isWorker = false
        for bytes in page.utf8.split(separator: UInt8(ascii: "\n")) where bytes.count <= Self.lineBytes {
            let line = Substring(bytes)
            if line.hasPrefix(LastLine.prefix) { lastLine = Words.cut(String(line.dropFirst(LastLine.prefix.count))) }
            guard line.hasPrefix("mezzotint_") || line.hasPrefix("process_"), let sample = MetricSample(line) else {
                continue
            }
            if sample.name == "mezzotint_partitions_owned" { isWorker = true }
            take(sample)
        }
        if !isWorker { return nil }
    }

    package init() {}

    /// Longer than the lines of any version.
    private static let lineBytes = 4_096
    /// More codes than any version has. A page with invented codes cannot use up memory.
    private static let codes = 500

    private mutating func take(_ sample: MetricSample) {
        // Other values are invalid, and sums of them would overflow.
        let whole = (0...1e15).contains(sample.value) ? Int(sample.value.rounded()) : nil
        switch sample.name {
        case "mezzotint_partitions_owned": owned = whole
        case "mezzotint_partitions_restoring": restoring = whole
        case "mezzotint_restore_rows_left": rowsLeft = whole
        case "mezzotint_permits" where sample.labels["kind"] == "fetch": fetchPermits.all = whole
        case "mezzotint_permits" where sample.labels["kind"] == "render": renderPermits.all = whole
        case "mezzotint_permits_in_use" where sample.labels["kind"] == "fetch": fetchPermits.used = whole
        case "mezzotint_permits_in_use" where sample.labels["kind"] == "render": renderPermits.used = whole
        case "mezzotint_step_sources": step(of: sample) { $0.sources = whole }
        case "mezzotint_step_oldest_seconds": step(of: sample) { $0.oldest = whole.map { _ in sample.duration } }
        case "mezzotint_renderer_losses_total": rendererLosses = whole
        case "mezzotint_renderer_resident_memory_bytes": rendererMemory = whole
        case "process_resident_memory_bytes": memory = whole
        case "mezzotint_clock_skew_seconds": clockSkew = abs(sample.value) <= 1e12 ? sample.duration : nil
        case "process_start_time_seconds": started = (0...1e12).contains(sample.value) ? .epoch + sample.duration : nil
        case "mezzotint_crashes_total": crashes = whole
        case "mezzotint_disk_free_bytes":
            if let folder = sample.labels["folder"], diskFree.count < 8 { diskFree[Words.cut(folder, 40)] = whole }
        case "mezzotint_build_info":
            version = sample.labels["version"].map { Words.cut($0, 80) }
            client = (sample.labels["client"] ?? sample.labels["client_id"]).map { Words.cut($0, 80) }
        case "mezzotint_failures_total":
            guard let code = sample.labels["code"].map({ Words.cut($0, 60) }),
                failures[code] != nil || failures.count < Self.codes, whole != nil
            else { return }
            failures[code] = sample.value
        default: break
        }
    }

    private static let stepNames: Set = ["fetch", "render", "store", "look"]

    private mutating func step(of sample: MetricSample, _ change: (inout Step) -> Void) {
        if let name = sample.labels["step"], Self.stepNames.contains(name) { change(&steps[name, default: Step()]) }
    }
}

/// One line of a page in Prometheus's text format 0.0.4.
struct MetricSample {
    let name: String
    let labels: [String: String]
    let value: Double
    /// Duration of a value in seconds, at most 1e15 of them.
    var duration: Duration { .milliseconds(Int64(value * 1_000)) }

    /// nil if it is no sample, or has no finite value.
    init?(_ line: some StringProtocol) {
        var rest = Substring(line)
        let name = rest.prefix { $0 != "{" && $0 != " " }
        rest = rest.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            while let next = rest.first, next != "}" {
                let label = rest.prefix { $0 != "=" }
                rest = rest.dropFirst(label.count)
                guard rest.hasPrefix("=\"") else { return nil }
                rest = rest.dropFirst(2)
                guard let value = Self.quoted(&rest) else { return nil }
                labels[String(label)] = value
                if rest.first == "," { rest = rest.dropFirst() }
            }
            guard rest.popFirst() == "}" else { return nil }
        }
        // A timestamp may come after the value.
        guard let text = rest.split(separator: " ").first, let value = Double(text), value.isFinite else { return nil }
        (self.name, self.labels, self.value) = (String(name), labels, value)
    }

    /// The text up to the closing quote, which is consumed, too.
    private static func quoted(_ rest: inout Substring) -> String? {
        var value = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return value
            case "\\":
                guard let escaped = rest.popFirst() else { return nil }
                value.append(escaped == "n" ? "\n" : escaped)
            default: value.append(character)
            }
        }
        return nil
    }
}
