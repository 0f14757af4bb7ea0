package import Records

extension Log {
    /// What workers and operators tell of hosts that live, in the log's order, read page by page.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func originRows(at now: Int64) async throws(LogFailure) -> [OriginRow] {
        let bounds = try await bounds(.origins, OriginRow.partition)
        var (reading, next) = (OriginReading(isStart: false, at: now), bounds.lowerBound)
        while next < bounds.upperBound {
            let records = try await read(.origins, OriginRow.partition, from: next, limit: OriginReading.page)
            guard let last = records.last else { break }
            for record in records { reading.take(record) }
            next = last.offset + 1
        }
        return reading.rows
    }
}
