internal import Canonical
internal import ImageModel

/// Encoded rows of many sources, in one block of memory.
struct PackedRows: Sendable {
    private var bytes: [UInt8] = []
    private var sources: [SourceKey] = []
    /// For each row, the index of the source it was found for, and its end.
    private var rows: [(source: Int, end: Int)] = []

    /// Starts the rows of a source. Rows of other sources may follow whose keys begin with the same bytes.
    mutating func add(_ source: SourceKey) { sources.append(source) }

    mutating func add(_ row: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: row)
        rows.append((sources.count - 1, bytes.count))
    }

    /// Snapshots by source: empty if the source has no row, missing if its row is damaged.
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
