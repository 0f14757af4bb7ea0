package import Clocks
package import Records

extension Log {
    /// What workers and operators tell of hosts that live.
    ///
    /// - Parameters:
    ///   - owners: of partitions, as the log names them; nil if they are not known.
    package func originReport(owners: Set<String>?, at now: WallTime) async throws(LogFailure) -> OriginReport {
        var scan = OriginScan(at: now)
        var start: Int64?
        try await readOrigins(from: &start) { scan.find($0) }
        var report = scan.begun(owners: owners)
        start = nil
        // Workers go on writing: the second time is soon over, and the third has next to nothing.
        for _ in 0..<3 { try await readOrigins(from: &start) { scan.fold($0, into: &report) } }
        return report
    }

    /// Reads to the end as of now, page by page. nil stands for the beginning.
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
