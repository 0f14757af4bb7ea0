package import Clocks
package import Records

extension Log {
    /// Report of workers and operators on all hosts with current rows.
    ///
    /// - Parameters:
    /// - owners: owners of partitions, as the log reports them; nil if they are unknown.
    package func originReport(owners: Set<String>?, at now: WallTime) async throws(LogFailure) -> OriginReport {
        var scan = OriginScan(at: now)
        var start: Int64?
        try await readOrigins(from: &start) { scan.find($0) }
        var report = scan.begun(owners: owners)
        start = nil
        // Workers write meanwhile. The second pass is short, and the third has almost nothing left.
        for _ in 0..<3 { try await readOrigins(from: &start) { scan.fold($0, into: &report) } }
        return report
    }

    /// Reads to the current end, page by page. nil starts at the beginning.
    private func readOrigins(from start: inout Int64?, _ take: ([Record]) -> Void) async throws(LogFailure) {
        let bounds = try await bounds(.origins, OriginRow.partition)
        var next = max(start ?? bounds.lowerBound, bounds.lowerBound)
        while next < bounds.upperBound {
            let records = try await read(.origins, OriginRow.partition, from: next, limit: OriginScan.page)
            guard let last = records.last else { break }
            take(records)
            next = last.offset + 1
        }
        start = max(next, bounds.upperBound)
    }
}
