internal import Canonical
internal import ImageModel

/// Rows of many sources as the file has them, in one piece of memory.
struct PackedRows: Sendable {
    private var bytes: [UInt8] = []
    private var sources: [SourceKey] = []
    /// Which of the sources each row was found for, and where it ends.
    private var rows: [(source: Int, end: Int)] = []

    /// The rows that are added next were found for this source; others' keys may begin as its does.
    mutating func add(_ source: SourceKey) { sources.append(source) }

    mutating func add(_ row: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: row)
        rows.append((sources.count - 1, bytes.count))
    }

    /// Empty of a source that has no row; none where its row is damaged.
    var snapshots: [SourceKey: SourceSnapshot] {
        var found: [SourceKey: SourceSnapshot] = [:]
        found.reserveCapacity(sources.count)
        for source in sources { found[source] = SourceSnapshot() }
        bytes.withUnsafeBytes { bytes in
            var start = 0
            for (place, end) in rows {
                let (source, row) = (sources[place], UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                start = end
                switch RowCoding.decode(row, of: source) {
                case .snapshot(let snapshot): found[source] = snapshot
                case .another: continue
                case .damaged: found[source] = nil
                }
            }
        }
        return found
    }
}
