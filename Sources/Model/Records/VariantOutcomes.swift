internal import Failures
package import ImageModel
internal import JSONText
internal import VariantSpec

/// Results of a job's variants, in the requested order.
package struct VariantOutcomes: Sendable, Hashable, RandomAccessCollection, ExpressibleByArrayLiteral {
    private let content: Content

    private enum Content {
        case list([VariantOutcome])
        /// Indices of the snapshot's variants. Most jobs find their variants unchanged, and rows are large.
        case unchanged(SourceSnapshot, places: [Int])
    }

    package init(_ list: [VariantOutcome]) { content = .list(list) }
    package init(arrayLiteral list: VariantOutcome...) { self.init(list) }
    package init(unchanged snapshot: SourceSnapshot, _ places: [Int]) {
        content = .unchanged(snapshot, places: places)
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int {
        switch content {
        case .list(let list): list.count
        case .unchanged(_, let places): places.count
        }
    }
    package subscript(index: Int) -> VariantOutcome {
        switch content {
        case .list(let list): return list[index]
        case .unchanged(let snapshot, let places):
            let row = snapshot.variants[places[index]]
            return VariantOutcome(spec: row.spec, kind: .unchanged, row: row)
        }
    }

    /// Writes a JSON array.
    func write(to json: inout JSONWriter) {
        json.beginArray()
        switch content {
        case .list(let list):
            for variant in list {
                json.variant(variant.spec, variant.kind) { json in
                    if let row = variant.row { json.row(row, isNew: variant.kind != .unchanged) }
                    if let failure = variant.failure { json.failure(failure) }
                }
            }
        case .unchanged(let snapshot, let places):
            let rows = snapshot.variants
            for place in places {
                json.variant(rows[place].spec, .unchanged) { $0.row(rows[place], isNew: false) }
            }
        }
        json.endArray()
    }

    package static func == (a: VariantOutcomes, b: VariantOutcomes) -> Bool { a.elementsEqual(b) }
    package func hash(into hasher: inout Hasher) { for variant in self { hasher.combine(variant) } }
}

extension JSONWriter {
    fileprivate mutating func variant(_ spec: VariantSpec, _ kind: OutcomeKind, _ body: (inout JSONWriter) -> Void) {
        beginObject()
        key("spec")
        self.spec(spec)
        field("kind", kind.rawValue)
        body(&self)
        endObject()
    }

    fileprivate mutating func row(_ row: VariantRow, isNew: Bool) {
        field("location", row.location)
        measures(row)
        derivedFrom(row)
        field("alpha", row.hasAlpha)
        // By-products are written only with the decode that gave them; later they are in the variant's row. Written for
        // every job whose variants were stored already, they would be half of that job's cost.
        if isNew { byProducts(row, withSourceSize: true) }
    }

    mutating func failure(_ failure: FailureNote) {
        key("failure")
        beginObject()
        let published = failure.published
        field("code", published.code)
        field("message", published.message.cut(to: RecordLimits.messageBytes))
        endObject()
    }
}
