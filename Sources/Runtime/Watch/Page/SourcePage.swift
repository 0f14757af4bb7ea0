package import Clocks
internal import HTTPCache
package import ImageModel
internal import JSONText
internal import Records
internal import VariantSpec

/// The log's content about one source: its data, its variants with their provenance, and the results of its jobs.
package struct SourceReport: Sendable {
    /// URL as it may be shown; nil if the request named the source's key.
    package let url: String?
    package let key: String
    package let partition: Int
    package var source: SourceRow?
    package var variants: [VariantRow] = []
    /// The newest outcomes of its jobs, and records that wait for it, as far as they were read.
    package var ends: [End] = []
    package var waiting: [Waiting] = []
    /// Notes on unread parts, and on how far the search went.
    package var notes: [String] = []

    package struct End: Sendable {
        package let job: String
        package let kind: String
        package let code: String?
        package let message: String?
        package let at: WallTime
        /// URL as it may be shown.
        package let url: String
        package init(job: String, kind: String, code: String?, message: String?, at: WallTime, url: String) {
            (self.job, self.kind, self.code, self.message) = (job, kind, code, message)
            (self.at, self.url) = (at, url)
        }
    }

    package struct Waiting: Sendable {
        package let job: String
        package let topic: String
        package let code: String?
        package let message: String?
        package let since: WallTime
        /// Earliest start of the job.
        package let notBefore: WallTime?
        package init(job: String, topic: String, code: String?, message: String?, since: WallTime, notBefore: WallTime?)
        {
            (self.job, self.topic, self.code, self.message) = (job, topic, code, message)
            (self.since, self.notBefore) = (since, notBefore)
        }
    }

    package init(url: String?, key: String, partition: Int) {
        (self.url, self.key, self.partition) = (url, key, partition)
    }
}

extension SourceReport {
    /// Page that reports an invalid URL.
    package static func refusal(_ message: String) -> [UInt8] {
        PageFrame.page("No source - mezzotint", isLive: false, at: "now") { html in
            html.raw("<h1>No source</h1><p>")
            html.put(Words.cut(message, 1_024))
            html.raw("</p>")
        }
    }

    package func page(at now: WallTime) -> [UInt8] {
        PageFrame.page("Source - mezzotint", isLive: false, at: Words.clock(now, at: now)) { html in
            html.raw("<h1>")
            html.put(Words.cut(url ?? ends.first?.url ?? "Unknown source", 2_048))
            html.raw("</h1><p>")
            html.put(why(at: now))
            html.raw("</p><dl>")
            html.pair("Source key", key)
            html.pair("Partition", "\(partition)")
            html.fetch(source, at: now)
            html.raw("</dl>")
            html.lineage(self, at: now)
            html.jobs(self, at: now)
            for note in notes {
                html.raw("<p class=dim>")
                html.put(Words.cut(note, 600))
                html.raw("</p>")
            }
        }
    }

    /// Summary in one sentence: the stored variants, and the effect of the next job.
    private func why(at now: WallTime) -> String {
        if let wait = waiting.first {
            let cause = wait.code.map { " after \($0)" } ?? ""
            let due = wait.notBefore.map { $0 > now ? " until \(Words.clock($0, at: now))" : ", due" } ?? ""
            return "A job of this source waits in \(wait.topic)\(cause)\(due)."
        }
        if let last = ends.first, let code = last.code { return "Its last job ended as \(last.kind): \(code)." }
        if variants.isEmpty && source == nil { return "Nothing is stored for this source, and no job of it was found." }
        let stale = variants.count { $0.expires <= now }
        return
            "\(Words.counted(variants.count, "variant")) \(variants.count == 1 ? "is" : "are") stored\(stale > 0 ? ", \(stale) of them stale: the next job fetches the source again" : ", all fresh: the next job for one of them does nothing")."
    }
}

extension HTML {
    fileprivate mutating func pair(_ name: StaticString, _ value: String) {
        raw("<dt>")
        raw(name)
        raw("</dt><dd>")
        put(Words.cut(value, 2_048))
        raw("</dd>")
    }

    fileprivate mutating func fetch(_ source: SourceRow?, at now: WallTime) {
        guard let source else { return pair("Last fetch", "unknown: no row of the source is in the log") }
        pair("Last fetch", "\(Timestamp.text(source.fetchedAt)), \(Words.span(now - source.fetchedAt)) ago")
        pair("Fresh until", "\(Timestamp.text(source.expires))\(source.expires > now ? "" : " (expired)")")
        pair(
            "Source image",
            [
                source.format.rawValue, "\(source.size)", Words.counted(source.bytes, "byte"),
                Words.counted(source.frames, "frame"),
            ].joined(separator: ", "))
        pair("Version", "\(source.version)")
        let validators = source.policy.conditions.map { "\($0.name): \($0.value)" }
        pair(
            "Revalidation headers",
            validators.isEmpty ? "none: the origin sent no validator" : validators.joined(separator: ", "))
        pair("Original", source.original ?? "not kept")
    }

    fileprivate mutating func lineage(_ report: SourceReport, at now: WallTime) {
        raw("<h2>Lineage</h2>")
        guard !report.variants.isEmpty else {
            raw("<p class=dim>No variant is stored.</p>")
            return
        }
        table(
            "Lineage",
            [
                ("Variant", .word), ("Made from", .word), ("Size", .word), ("Bytes", .number), ("Stored", .word),
                ("Version", .word), ("Location", .text),
            ]
        ) { html in
            for row in report.variants.prefix(200) {
                html.raw("<tr>")
                html.cell("\(row.spec)")
                html.cell(row.isFromKept ? "original (kept)" : row.derivedFrom.name)
                html.cell("\(row.size)")
                html.cell(Words.count(row.bytes), .number)
                html.cell("\(Words.span(now - row.storedAt)) ago\(row.expires > now ? "" : ", stale")")
                html.cell(
                    "\(row.version)\(report.source.map { $0.version == row.version ? "" : ", not the newest" } ?? "")")
                html.cell(row.location, .text)
                html.raw("</tr>")
            }
        }
    }

    fileprivate mutating func jobs(_ report: SourceReport, at now: WallTime) {
        raw("<h2>Jobs</h2>")
        guard !report.ends.isEmpty || !report.waiting.isEmpty else {
            raw("<p class=dim>No job was found in the records that were read.</p>")
            return
        }
        table("Jobs", [("Job", .word), ("State", .word), ("When", .word), ("Why", .text)]) { html in
            for wait in report.waiting.prefix(100) {
                html.row(
                    wait.job, "waits in \(wait.topic)", "since \(Timestamp.text(wait.since))",
                    [wait.code, wait.message].compactMap { $0 }.joined(separator: ": "))
            }
            for end in report.ends.prefix(100) {
                html.row(
                    end.job, end.kind, Timestamp.text(end.at),
                    [end.code, end.message].compactMap { $0 }.joined(separator: ": "))
            }
        }
    }

    private mutating func row(_ cells: String...) {
        raw("<tr>")
        for text in cells.dropLast() { cell(Words.cut(text, 600)) }
        cell(Words.cut(cells.last ?? "", 600), .text)
        raw("</tr>")
    }
}

extension Provenance {
    fileprivate var name: String {
        switch self {
        case .origin: "origin"
        case .donor(let spec): spec.description
        }
    }
}
