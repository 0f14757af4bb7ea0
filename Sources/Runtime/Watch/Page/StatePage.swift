internal import Clocks
internal import ImageModel
internal import Ports
internal import Records

extension WatchReport {
    /// The page, from top to bottom in the order in which a reader looks for a cause.
    package var page: [UInt8] {
        let title = "\(diagnosis.cause.rawValue) - mezzotint"
        return PageFrame.page(
            title, isLive: true, at: respondedAt.map { Words.clock($0, at: at) } ?? "never",
            age: respondedAt.map { max(.zero, at - $0) }
        ) { html in
            html.verdict(self)
            html.lanes(self)
            html.waits(self)
            html.hosts(self)
            html.failures(self)
            html.partitions(self)
            html.workers(self)
        }
    }
}

extension HTML {
    /// Maximum rows of a table that a reader can use. The JSON has all.
    private static let rows = 50

    fileprivate mutating func verdict(_ report: WatchReport) {
        raw("<section class=\"verdict ")
        put(report.diagnosis.cause.rawValue)
        raw("\"><h1>")
        put(report.diagnosis.headline)
        raw("</h1><p>")
        put(report.diagnosis.action)
        raw("</p>")
        let pauses = report.pauses.map { $0.words(at: report.at) + "." }
        for line in (report.diagnosis.example.map { [$0] } ?? []) + pauses + report.diagnosis.lanes {
            raw("<p class=line>")
            put(line)
            raw("</p>")
        }
        raw("</section>")
    }

    fileprivate mutating func lanes(_ report: WatchReport) {
        raw("<h2>Lanes</h2><div class=lanes>")
        for lane in report.lanes {
            raw("<section><h3>")
            put(lane.lane.title)
            raw("</h3>")
            chart(lane, at: report.at, marks: report.marks)
            note("Age of its oldest unread job, last hour: \(lane.atMost). Dashed: the target.")
            raw("<dl><dt>Oldest</dt>")
            if lane.isLate(at: report.at) { raw("<dd class=late>") } else { raw("<dd>") }
            let isIdle = lane.lag.records == 0 && lane.parked?.jobs == 0
            put(isIdle ? "none" : lane.age(at: report.at).map(Words.span) ?? "unknown")
            put(" (target \(Words.span(lane.target))\(lane.isLate(at: report.at) ? ", late" : ""))")
            raw("</dd>")
            entry("Unread", lane.lag.records.map { Words.count(Int($0)) } ?? "unknown")
            entry(
                "Parked",
                lane.parked.map { parked in
                    parked.text + (parked.since.map { ", the oldest came \(Words.span(report.at - $0)) ago" } ?? "")
                } ?? "unknown")
            if lane.lag.unknown > 0 { entry("Unknown", "\(Words.counted(lane.lag.unknown, "partition"))") }
            let rates = lane.lag.records == nil ? nil : lane.rates
            entry("Rate in, out", rates.map { "\(Words.rate($0.in))/s, \(Words.rate($0.out))/s" } ?? "unknown")
            entry("Time to drain", drained(lane))
            raw("</dl></section>")
        }
        raw("</div>")
        guard !report.marks.isEmpty else { return }
        raw("<details id=marks><summary>What changed in the last hour</summary><ul>")
        for mark in report.marks.reversed() {
            raw("<li>")
            put("\(Words.clock(mark.at, at: report.at)): \(mark.text)")
            raw("</li>")
        }
        raw("</ul></details>")
    }

    private func drained(_ lane: WatchReport.LaneReport) -> String {
        if lane.lag.records == 0, lane.parked?.jobs == 0 { return "nothing is pending" }
        guard lane.drain != nil else { return "unknown" }
        return lane.drainTime.map(Words.span) ?? "the backlog does not shrink"
    }

    private mutating func entry(_ name: StaticString, _ value: String) {
        raw("<dt>")
        raw(name)
        raw("</dt><dd>")
        put(value)
        raw("</dd>")
    }

    fileprivate mutating func waits(_ report: WatchReport) {
        raw("<h2>Pending jobs</h2>")
        let isKnown = report.respondedAt != nil && report.lanes.allSatisfy { $0.lag.unknown == 0 && $0.parked != nil }
        note(
            report.sampled.of == 0
                ? isKnown ? "Nothing is pending." : "Unknown."
                : "Sampled \(report.sampled.topicPartitions) of \(report.sampled.of) topic-partitions with a backlog, at most \(PlaceSample.most) records of each. ~ marks estimates."
        )
        guard !report.waits.isEmpty else { return }
        table(
            "Pending jobs",
            [("Jobs", .number), ("For", .text), ("Host", .text), ("Lane", .word), ("Since", .word), ("Action", .text)]
        ) { html in
            var last: String?
            for wait in report.waits.prefix(Self.rows) {
                let action = report.action(of: wait)
                html.raw("<tr>")
                html.cell((wait.isEstimate ? "~" : "") + Words.count(Int(wait.jobs.rounded())), .number)
                html.cell(wait.reason.meaning + (wait.code.map { " (\(Words.cut($0, 60)))" } ?? ""), .text)
                html.cell(Words.cut(wait.host, 120), .text)
                html.cell(wait.lane)
                html.cell("\(Words.span(report.at - wait.since)) ago")
                html.cell(action == last ? "as above" : action, .text)
                last = action
                html.raw("</tr>")
            }
        }
        rest(report.waits.count, Int(report.waits.dropFirst(Self.rows).reduce(0) { $0 + $1.jobs }), "jobs")
    }

    /// Adds the hosts, blocked ones first, then those with the largest backlog.
    fileprivate mutating func hosts(_ report: WatchReport) {
        guard let troubled = report.troubledHosts else {
            return note("Throttled and blocked origins are unknown: the topic origins was not read.")
        }
        guard !troubled.isEmpty else { return }
        let shown = troubled.sorted {
            ($0.state == .blocked ? 1 : 0, $0.waiting.sum, $1.host)
                > ($1.state == .blocked ? 1 : 0, $1.waiting.sum, $0.host)
        }
        raw("<h3>Throttled and blocked origins</h3>")
        table(
            "Throttled and blocked origins",
            [
                ("Host", .text), ("State", .word), ("Until", .word), ("Why", .code), ("At once", .number),
            ] + Lane.allCases.map { ($0.title, .number) }
        ) { html in
            for host in shown.prefix(Self.rows) {
                html.raw("<tr>")
                html.cell(Words.cut(host.host, 120), .text)
                html.cell(host.state.rawValue + (host.since.map { " since \(Words.clock($0, at: report.at))" } ?? ""))
                html.cell(host.until.map { Words.clock($0, at: report.at) } ?? "")
                html.cell(Words.cut(host.code ?? "", 60), .code)
                html.cell(host.isReported ? "\(host.inFlight) of \(host.limit)" : "unknown", .number)
                for lane in Lane.allCases {
                    html.cell(host.isReported ? Words.count(host.waiting[lane]) : "unknown", .number)
                }
                html.raw("</tr>")
            }
        }
        rest(shown.count, shown.dropFirst(Self.rows).reduce(0) { $0 + $1.waiting.sum }, "jobs")
    }

    fileprivate mutating func failures(_ report: WatchReport) {
        raw("<h2>Failures</h2>")
        let deadLetters =
            report.deadLetters.map { count in
                "\(report.hasMoreDeadLetters ? "at least " : "")\(Words.count(count))"
            } ?? "unknown"
        let (jobs, failed, expired) = report.ended
        let bad = [(failed, "failed"), (expired, "expired")].filter { $0.0 > 0 }.map {
            "\(Words.count($0.0)) \($0.1) (\(Words.percent(Double($0.0), of: Double(jobs))))"
        }
        note(
            "Last 5 minutes: \(Words.counted(jobs, "outcome")) read, \(bad.isEmpty ? "none failed" : bad.joined(separator: ", ")). Open dead letters: \(deadLetters). The table counts since lagwatch started."
        )
        guard !report.failures.isEmpty else { return }
        table(
            "Failures",
            [
                ("Jobs", .number), ("Code", .code), ("Host", .text), ("Dead letters", .number), ("First, last", .word),
                ("Newest", .text),
            ]
        ) { html in
            for failure in report.failures.prefix(Self.rows) {
                html.raw("<tr>")
                html.cell(Words.count(failure.count), .number)
                html.cell(Words.cut(failure.code, 60), .code)
                html.cell(Words.cut(failure.host, 120), .text)
                html.cell(failure.standing.map { Words.count($0) } ?? "unknown", .number)
                html.cell(
                    [failure.first, failure.last].map { $0.map { Words.clock($0, at: report.at) } ?? "unknown" }.joined(
                        separator: ", "))
                html.openCell(.text)
                html.put(Words.cut(failure.message))
                if !failure.job.isEmpty {
                    html.raw(" <span class=dim>")
                    html.put(Words.cut(failure.job, 80))
                    html.raw("</span>")
                }
                html.link(toSourceOf: failure)
                html.raw("</td></tr>")
            }
        }
        rest(report.failures.count, report.failures.dropFirst(Self.rows).reduce(0) { $0 + $1.count }, "jobs")
    }

    fileprivate mutating func partitions(_ report: WatchReport) {
        guard !report.partitions.isEmpty else { return }
        raw("<h2>Partitions</h2>")
        strip(report)
        let age = { (partition: PartitionReport) in
            ((partition.lanes + [partition.retries]).compactMap(\.oldest).min() ?? .distantFuture, partition.number)
        }
        let shown = report.partitions.sorted {
            ($0.state.rank, age($0).0, age($0).1) < ($1.state.rank, age($1).0, age($1).1)
        }
        table(
            "Partitions",
            [
                ("Partition", .number), ("State", .word), ("Owner", .word), ("Epoch", .number),
            ] + Lane.allCases.map { ($0.title, .number) } + [("Parked", .number), ("Held by", .word)]
        ) { html in
            for partition in shown.prefix(Self.rows) {
                html.raw("<tr>")
                html.cell("\(partition.number)", .number)
                html.cell(partition.state.rawValue)
                html.cell(Words.cut(partition.owner ?? (partition.state == .unowned ? "nobody" : "unknown"), 80))
                html.cell(partition.epoch.map { "\($0)" } ?? "unknown", .number)
                for lag in partition.lanes + [partition.retries] { html.lag(lag, at: report.at) }
                html.cell(partition.pinned?.description ?? partition.message.map { Words.cut($0) } ?? "")
                html.raw("</tr>")
            }
        }
        if shown.count > Self.rows { note("And \(shown.count - Self.rows) more partitions, which wait less.") }
    }

    private typealias PartitionReport = WatchReport.PartitionReport

    private mutating func lag(_ lag: Lag, at now: WallTime) {
        guard let records = lag.records else { return cell("unknown", .number) }
        let age = lag.oldest.map { ", \(Words.span(now - $0))" } ?? (records > 0 ? ", age unknown" : "")
        cell(Words.count(Int(records)) + age, .number)
    }

    fileprivate mutating func workers(_ report: WatchReport) {
        raw("<h2>Workers</h2>")
        let owners =
            report.owners.map {
                "\($0 == 0 ? "No active workers" : "\(Words.counted($0, "worker")) \($0 == 1 ? "owns" : "own") partitions"). "
            }
            ?? "How many workers own partitions is unknown. "
        note(
            owners
                + (report.workers.isEmpty
                    ? "To show their metrics, set metrics.listen for each worker and list it in watch.workers." : ""))
        guard !report.workers.isEmpty else { return }
        table(
            "Workers",
            [
                ("Worker", .word), ("Version", .word), ("Partitions", .number), ("Restoring", .number),
                ("Fetches", .number),
                ("Renders", .number), ("Renderers lost", .number), ("Memory", .number), ("Disk free", .number),
                ("Responded", .word),
            ]
        ) { html in
            for worker in report.workers.prefix(200) {
                let figures = worker.figures
                html.raw("<tr>")
                html.cell(Words.cut(worker.address, 80))
                html.cell(Words.cut(figures?.version ?? "unknown", 40))
                html.cell(figures?.owned.map { "\($0)" } ?? "unknown", .number)
                html.cell(figures?.restoring.map { "\($0)" } ?? "unknown", .number)
                html.cell(Self.use(figures?.fetchPermits), .number)
                html.cell(Self.use(figures?.renderPermits), .number)
                html.cell(figures?.rendererLosses.map { "\($0)" } ?? "unknown", .number)
                html.cell(figures?.memory.map { Words.bytes($0) } ?? "unknown", .number)
                html.cell(figures?.diskFree.values.min().map { Words.bytes($0) } ?? "unknown", .number)
                html.cell(
                    worker.silence.map {
                        let since = worker.respondedAt == nil ? "yet" : "since \(Words.clock($0.since, at: report.at))"
                        return "not \(since): \(Words.cut($0.reason, 80))"
                    } ?? worker.respondedAt.map { Words.clock($0, at: report.at) } ?? "not yet")
                html.raw("</tr>")
            }
        }
    }

    private static func use(_ use: WorkerFigures.Use?) -> String {
        guard let used = use?.used, let all = use?.all else { return "unknown" }
        return "\(used) of \(all)"
    }

    private mutating func note(_ text: String) {
        raw("<p class=dim>")
        put(text)
        raw("</p>")
    }

    private mutating func rest(_ rows: Int, _ number: Int, _ what: String) {
        if rows > Self.rows {
            note("And \(Words.count(rows - Self.rows)) more rows, with \(Words.count(number)) \(what).")
        }
    }

    /// Adds the URL of a failed job. If the outcome names the source, the URL links to the source's page, because the
    /// shown URL may lack the parts that identify it.
    fileprivate mutating func link(toSourceOf failure: WatchReport.FailureReport) {
        guard !failure.url.isEmpty else { return }
        raw(" ")
        if let source = failure.source {
            raw("<a href=\"/source?key=")
            put(source)
            raw("\">")
        }
        put(Words.cut(failure.url, 120))
        if failure.source != nil { raw("</a>") }
    }
}

extension WatchReport.PartitionReport.State {
    /// The worst first.
    fileprivate var rank: Int {
        switch self {
        case .unreadable: 0
        case .unowned: 1
        case .restoring: 2
        case .unknown: 3
        case .owned: 4
        }
    }
}
