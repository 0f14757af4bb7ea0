package import ImageModel
internal import JSONText

/// One decoded record of `variants`: a step of the index, the owner of the partition, or its owners' progress.
package enum ChangelogEntry: Sendable, Hashable {
    case change(IndexChange)
    case epoch(EpochRow)
    case progress(ProgressRow)

    package init(_ record: Record) throws(RecordFailure) {
        guard let key = RecordKey(record.key) else {
            throw .key(place: record.placeText, text: String(decoding: record.key.prefix(160), as: UTF8.self))
        }
        do throws(JSONFailure) {
            switch (key, record.value) {
            case (.variant(let source, let spec), nil): self = .change(.dropVariant(source, spec))
            case (.variant(let source, let spec), let value?):
                self = .change(.variant(try VariantRow(source: source, spec: spec, json: value)))
            case (.source(let source), nil): self = .change(.dropSource(source))
            case (.source(let source), let value?): self = .change(.source(try SourceRow(source: source, json: value)))
            case (.epoch(let partition), let value?): self = .epoch(try EpochRow(partition: partition, json: value))
            case (.progress(let partition), let value?):
                self = .progress(try ProgressRow(partition: partition, json: value))
            case (.epoch, nil), (.progress, nil), (.job, _), (.parked, _):
                throw JSONFailure.syntax("its key is not that of a row", at: 0)
            }
        } catch {
            throw .value(place: record.placeText, reason: error.description)
        }
    }
}

extension IndexChange {
    /// The step as a record of the changelog.
    package func newRecord(partition: PartitionID) -> NewRecord {
        switch self {
        case .source(let row): row.newRecord(partition: partition)
        case .variant(let row): row.newRecord(partition: partition)
        case .dropSource(let source): SourceRow.drop(source, partition: partition)
        case .dropVariant(let source, let spec): VariantRow.drop(spec, of: source, partition: partition)
        }
    }
}
