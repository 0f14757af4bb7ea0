internal import Failures
internal import ImageModel
internal import JSONText
internal import Synchronization
internal import VariantSpec

/// What became of each variant of a job, in the order asked.
///
/// Shared, since jobs of a burst that find the same stored are answered alike: their text, which is most of an outcome's,
/// is kept once it was written a second time.
package final class VariantOutcomes: Sendable, Hashable, RandomAccessCollection, ExpressibleByArrayLiteral {
    private let list: [VariantOutcome]
    private let text = Mutex(Text.unwritten)

    private enum Text {
        case unwritten, written
        case kept([UInt8])
    }

    package init(_ list: [VariantOutcome]) { self.list = list }
    package convenience init(arrayLiteral list: VariantOutcome...) { self.init(list) }

    package var startIndex: Int { 0 }
    package var endIndex: Int { list.count }
    package subscript(index: Int) -> VariantOutcome { list[index] }

    /// As a JSON array.
    func write(to json: inout JSONWriter) {
        let kept: [UInt8]? = text.withLock { text in
            switch text {
            case .unwritten:
                text = .written
                return nil
            case .written:
                var json = JSONWriter(reserving: 64 + 256 * list.count)
                writeList(to: &json)
                text = .kept(json.bytes)
                return json.bytes
            case .kept(let bytes): return bytes
            }
        }
        if let kept { json.written(kept) } else { writeList(to: &json) }
    }

    private func writeList(to json: inout JSONWriter) {
        json.beginArray()
        for place in list.indices { json.variant(list[place]) }
        json.endArray()
    }

    package static func == (a: VariantOutcomes, b: VariantOutcomes) -> Bool { a === b || a.list == b.list }
    package func hash(into hasher: inout Hasher) { hasher.combine(list) }
}

extension JSONWriter {
    fileprivate mutating func variant(_ variant: VariantOutcome) {
        beginObject()
        key("spec")
        spec(variant.spec)
        field("kind", variant.kind.rawValue)
        if let row = variant.row { self.row(row, isNew: variant.kind != .unchanged) }
        if let failure = variant.failure { self.failure(failure) }
        endObject()
    }

    private mutating func row(_ row: VariantRow, isNew: Bool) {
        field("location", row.location)
        measures(row)
        madeFrom(row)
        field("alpha", row.hasAlpha)
        // What a decode gave by the way is told when there was one; later it is in the variant's row. Told with every job
        // whose variants stood already, it would be half of that job's cost.
        if isNew { byProducts(row, withSourceSize: true) }
    }

    mutating func failure(_ failure: FailureNote) {
        key("failure")
        beginObject()
        let told = failure.told
        field("code", told.code)
        field("message", told.message.cut(to: RecordLimits.messageBytes))
        endObject()
    }
}
