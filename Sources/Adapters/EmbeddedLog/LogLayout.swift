internal import Records
internal import SQLite

/// Which tables of a log's file hold the records of its partitions.
///
/// Up to 16 partitions have a table of each topic to themselves. Partitions of a larger log share 16: every connection reads
/// the names of all tables first, and those of 256 partitions took 2 s and 16 MiB of a worker that had three jobs (unoptimised).
struct LogLayout: Hashable, Sendable {
    let partitions: Int
    /// Tables of each topic. Partitions with the same remainder share one.
    let tables: Int

    static let mostTables = 16
    /// Row ids of each partition in a shared table.
    private static let stretch: Int64 = 1 << 56

    init(partitions: Int, isShared: Bool) {
        self.partitions = partitions
        tables = isShared ? min(partitions, Self.mostTables) : partitions
    }

    /// Whether tables hold the records of more than one partition.
    var isShared: Bool { tables < partitions }

    /// The part of a table that holds the records of `place`, a partition of this log.
    func part(of place: TablePlace) -> TablePart {
        let number = Int(place.partition.number)
        let table = TablePlace(topic: place.topic, partition: PartitionID(Int32(number % tables)))
        guard isShared else {
            return TablePart(table: table, first: 0, offsets: LogSchema.offsets, rows: .min...Int64.max)
        }
        let first = Int64(number / tables) * Self.stretch
        return TablePart(
            table: table, first: first, offsets: 0...Self.stretch - 1, rows: first...first + Self.stretch - 1)
    }
}

/// The records of one partition of a topic within a table. The row id is the offset, counted from `first`.
struct TablePart: Sendable {
    /// The place that the table is named after.
    let table: TablePlace
    let first: Int64
    /// Other offsets are damage.
    let offsets: ClosedRange<Int64>
    /// Row ids that a statement looks at. An unshared table is read whole, so that damage is found.
    let rows: ClosedRange<Int64>

    func row(of offset: Int64) -> Int64 { first + min(max(offset, 0), offsets.upperBound) }

    /// Binds the first and the last of `rows`.
    func bindRows(to statement: inout Statement, from index: Int32) {
        statement.bind(index, rows.lowerBound)
        statement.bind(index + 1, rows.upperBound)
    }

    /// The offset in a column of row ids; nil for NULL.
    func optionalOffset(_ row: borrowing Statement, _ column: Int32) throws(SQLiteFailure) -> Int64? {
        let ids = first...first + offsets.upperBound
        return try row.optionalInteger(column, in: ids).map { $0 - first }
    }
}
