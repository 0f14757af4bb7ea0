internal import Canonical
internal import Clocks
internal import ImageModel
internal import Ports
internal import Posix
internal import Records
internal import VariantSpec
internal import Watch

/// A source in a request.
enum SourceName: Sendable {
    /// Any text.
    case url(String)
    case key(SourceKey)

    /// Parses a query; nil if it names no source.
    init?(_ query: String?) {
        if let key = Query.value("key", in: query).flatMap({ SourceKey(hex: $0) }) {
            self = .key(key)
        } else if let url = Query.value("url", in: query), !url.isEmpty {
            self = .url(url)
        } else {
            return nil
        }
    }
}

/// Finds the log's data on one source: its rows, its newest outcomes, and its pending jobs.
struct SourceLookup {
    let view: any LogView
    let reading: RecordReading
    /// Blocked hosts, with the end of each block.
    let blocked: [String: WallTime]

    /// Number of newest records of `outcomes`, and of first unfinished records of every topic, to search.
    private static let records = 500

    /// - Parameter shown: its URL as shown to people; nil if only the key is known.
    func report(of source: SourceKey, shown: String?) async -> SourceReport {
        let partition = source.partition(of: view.partitionCount)
        var report = SourceReport(url: shown, key: source.hex, partition: Int(partition.number))
        await addRows(of: source, in: partition, to: &report)
        let points = (Topic.jobTopics + [.outcomes]).map { LogPoint($0, partition, nil) }
        let key = RecordKey.job(source).bytes
        for (point, result) in zip(points, await view.offsets(of: points)) {
            do throws(LogFailure) {
                let offsets = try result.get()
                let isEnd = point.topic == .outcomes
                let start =
                    isEnd
                    ? max(offsets.bounds.lowerBound, offsets.bounds.upperBound - Int64(Self.records)) : offsets.start
                guard start < offsets.bounds.upperBound else { continue }
                let records = try await view.read(point.topic, partition, from: start, limit: Self.records)
                let own = records.filter { $0.key == key }
                if isEnd {
                    report.ends = reading.allEnds(own).reversed()
                } else {
                    report.waiting += reading.waiting(own, blocked: blocked)
                }
            } catch {
                report.notes.append(error.description)
            }
        }
        report.notes.append(
            "Jobs are looked for among the newest \(Self.records) outcomes of the partition, and the first \(Self.records) unfinished records of each topic."
        )
        return report
    }

    private func addRows(of source: SourceKey, in partition: PartitionID, to report: inout SourceReport) async {
        do throws(LogFailure) {
            let prefix = RecordKey.job(source).bytes + Array("/".utf8)
            for record in try await view.latest(.variants, partition, keyPrefix: prefix) {
                guard case .change(let change) = try? ChangelogEntry(record) else { continue }
                switch change {
                case .source(let row): report.source = row
                case .variant(let row): report.variants.append(row)
                case .dropSource, .dropVariant: continue
                }
            }
            let parked = try await view.latest(.parked, partition, keyPrefix: prefix)
            report.waiting += reading.waiting(parked, blocked: blocked)
            report.variants.sort { ($0.size.pixels, $0.spec.description) > ($1.size.pixels, $1.spec.description) }
        } catch {
            report.notes.append(error.description)
        }
    }
}

extension Observer {
    /// The page of a source; nil if the caller was cancelled before its turn.
    func page(of source: SourceName) async -> [UInt8]? {
        let (key, shown): (SourceKey, String?)
        switch source {
        case .key(let named): (key, shown) = (named, nil)
        case .url(let url):
            do throws(CanonicalFailure) {
                let source = try rules.source(of: url)
                (key, shown) = (source.key, ShownURL(source.fetchURL, hiding: rules.hidden).description)
            } catch {
                return SourceReport.refusal(error.description)
            }
        }
        guard let view else { return SourceReport.refusal("The log was not reached yet. Ask again later.") }
        let lookup = SourceLookup(view: view, reading: reading, blocked: blockedHosts)
        return await lookups.pass { await lookup.report(of: key, shown: shown).page(at: SystemTime.wall) }
    }
}
