internal import Canonical
internal import Clocks
import Foundation
internal import ImageModel
import JSONText
import Ports
internal import Records
import RenderProtocol
internal import VariantSpec

/// A page that shows every stored variant as a picture, and how it was rendered.
struct ContactSheet {
    private var sources: [SourceKey: SourceRow] = [:]
    private var variants: [SourceKey: [VariantRow]] = [:]
    /// Kind of each variant in the outcome events: whether it was fetched for, or reused.
    private var kinds: [SourceKey: [VariantSpec: OutcomeKind]] = [:]
    private let began: WallTime

    init(of log: any Log, began: WallTime) async throws {
        self.began = began
        for number in 0..<Int32(log.partitionCount) {
            let partition = PartitionID(number)
            for record in try await log.latest(.variants, partition, keyPrefix: []) {
                switch try ChangelogEntry(record) {
                case .change(.source(let row)): sources[row.source] = row
                case .change(.variant(let row)): variants[row.source, default: []].append(row)
                default: break
                }
            }
            var next = try await log.bounds(.outcomes, partition).lowerBound
            while case let records = try await log.read(.outcomes, partition, from: next, limit: 1000),
                let last = records.last
            {
                for record in records {
                    if record.isOfControl { continue }
                    let report = try OutcomeReport(record)
                    guard let source = report.source else { continue }
                    for variant in report.variants where variant.kind == .stored || variant.kind == .reused {
                        kinds[source, default: [:]][variant.spec] = variant.kind
                    }
                }
                next = last.offset + 1
            }
        }
    }

    /// - Parameter store: the store's root, relative to the page.
    func page(store: String, summary: String) -> String {
        let ordered = sources.values.sorted { $0.url < $1.url }
        return """
            <!doctype html>
            <html lang="en"><meta charset="utf-8"><title>Mezzotint: contact sheet</title>
            <meta name="viewport" content="width=device-width">
            <style>
            body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; background: #f6f5f2; color: #222 }
            pre { background: #fff; border: 1px solid #ddd; padding: 1em; overflow-x: auto }
            section { display: flex; flex-wrap: wrap; gap: 1em; align-items: flex-end; margin: 0 0 2em }
            h2 { font-size: 1em; margin: 2em 0 .6em; word-break: break-all } h2 span { font-weight: normal; color: #666 }
            figure { margin: 0; background: #fff; border: 1px solid #ddd; padding: .5em; max-width: 340px }
            img { max-width: 100%; height: auto; display: block } figcaption { font-size: 12px; margin-top: .4em }
            img.placeholder { display: inline; height: 1.2em; vertical-align: middle }
            figcaption i { display: inline-block; width: .8em; height: .8em }
            .reused { color: #176b3a } .fetched { color: #8a4b08 }
            </style>
            <h1>Contact sheet</h1>
            <pre>\(Self.escaped(summary))</pre>
            \(ordered.map { section($0, store) }.joined(separator: "\n"))
            </html>

            """
    }

    private func section(_ source: SourceRow, _ store: String) -> String {
        let rows = (variants[source.source] ?? []).sorted {
            ($0.storedAt, -$0.size.pixels) < ($1.storedAt, -$1.size.pixels)
        }
        return """
            <h2>\(Self.escaped(source.url)) <span>\(source.size), \(Round.bytes(source.bytes)) \
            \((rows.last { $0.facts != nil }?.facts?.notes() ?? [source.format.rawValue]).joined(separator: ", "))\
            \(source.original == nil ? "" : ", original kept")</span></h2>
            <section>\(rows.map { figure($0, store) }.joined())</section>
            """
    }

    private func figure(_ row: VariantRow, _ store: String) -> String {
        let path = (store + "/" + row.location).addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? ""
        let seconds = String(format: "%.1f", (row.storedAt - began).seconds)
        return """
            <figure><img src="\(path)" width="\(row.size.width)" height="\(row.size.height)" loading="lazy" alt=""\
             style="background: #\(row.colour?.hex ?? "fff")">\
            <figcaption><b>\(row.spec)</b> \(row.size), \(Round.bytes(row.bytes)), after \(seconds) s\
            \(row.colour.map { ", <i style=\"background: #\($0.hex)\"></i> #\($0.hex)" } ?? "")\(placeholder(of: row))<br>\(story(of: row))</figcaption></figure>
            """
    }

    /// Placeholder of a variant, next to it, for display while it loads.
    private func placeholder(of row: VariantRow) -> String {
        guard let drawing = ThumbHash.drawing(of: row.placeholder, side: 16) else { return "" }
        return """
            , <img class="placeholder" alt="placeholder" title="ThumbHash \(Base64.text(row.placeholder))"\
             src="data:image/bmp;base64,\(Base64.text(Self.bitmap(drawing)))">
            """
    }

    /// A BMP of 24 bits: the shortest form of a few pixels for a browser.
    private static func bitmap(_ drawing: ThumbHash.Drawing) -> [UInt8] {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var rows: [UInt8] = []
        // Rows from the bottom, blue first, padded to a multiple of four bytes.
        for y in (0..<drawing.height).reversed() {
            for x in 0..<drawing.width {
                let place = (y * drawing.width + x) * 3
                rows += [drawing.rgb[place + 2], drawing.rgb[place + 1], drawing.rgb[place]]
            }
            rows += [UInt8](repeating: 0, count: (4 - drawing.width * 3 % 4) % 4)
        }
        var file = Array("BM".utf8) + little(54 + rows.count, 4) + little(0, 4) + little(54, 4) + little(40, 4)
        file += little(drawing.width, 4) + little(drawing.height, 4) + little(1, 2) + little(24, 2) + little(0, 4)
        return file + little(rows.count, 4) + little(0, 16) + rows
    }

    private func story(of row: VariantRow) -> String {
        switch (row.derivedFrom, kinds[row.source]?[row.spec]) {
        case (.donor(let spec), _): "<span class=\"reused\">reused, from \(spec)</span>"
        case (.origin, .reused): "<span class=\"reused\">reused, from the kept original</span>"
        case (.origin, _): "<span class=\"fetched\">fetched</span>"
        }
    }

    private static func escaped(_ text: String) -> String {
        PlainText.of(text, keepingLines: true).replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(
            ">", with: "&gt;")
    }
}
