internal import Canonical
internal import ImageModel
internal import Ports
internal import Posix
internal import Records
internal import VariantSpec
internal import Watch

/// Finds what the log says of one source: its rows, its newest outcomes, and what waits for it.
struct SourceLookup {
    let view: any LogView
    let reading: RecordReading

    /// The newest records of `outcomes`, and the first unfinished ones of every topic, that are looked through.
    private static let records = 500

    func report(of source: CanonicalSource, shown: String) async -> SourceReport {
        let partition = source.key.partition(of: view.partitionCount)
        var report = SourceReport(url: shown, key: source.key.hex, partition: Int(partition.number))
        await addRows(of: source.key, in: partition, to: &report)
        let points = (Topic.worked + [.outcomes]).map { LogPoint($0, partition, nil) }
        let key = RecordKey.job(source.key).bytes
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
                    report.waiting += reading.waiting(own)
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
            report.variants.sort { ($0.size.pixels, $0.spec.description) > ($1.size.pixels, $1.spec.description) }
        } catch {
            report.notes.append(error.description)
        }
    }
}

extension Observer {
    /// The page of the source that a URL names, whatever it says.
    func page(ofSource url: String) async -> [UInt8] {
        let now = SystemTime.wallMilliseconds
        let source: CanonicalSource
        do throws(CanonicalFailure) { source = try rules.source(of: url) } catch {
            return SourceReport.refusal(error.description)
        }
        guard let view else { return SourceReport.refusal("The log was not reached yet. Ask again later.") }
        let shown = ShownURL(source.fetchURL, hiding: rules.hidden).description
        return await SourceLookup(view: view, reading: reading).report(of: source, shown: shown).page(at: now)
    }
}
