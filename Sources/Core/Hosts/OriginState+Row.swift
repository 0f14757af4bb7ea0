package import Canonical
package import Clocks
package import Records

extension OriginState {
    /// Row about the host that the worker publishes.
    package func row(of host: OriginHost, by teller: String, at now: Moment) -> OriginRow {
        var row = OriginRow(host: host.description, by: teller, at: now.wall)
        let trouble: Trouble?
        switch phase {
        case .open: (row.state, trouble) = (slowed == nil ? .open : .slowed, slowed?.trouble)
        case .blocked:
            (row.state, trouble) = (.blocked, self.trouble)
            // Rounded to the second, and written even after its end, because a repeated row must be the same.
            row.until = judged.map {
                let until = max(.epoch, now.wall + ($0.until - now.monotonic))
                return WallTime(milliseconds: until.milliseconds / 1_000 * 1_000)
            }
            row.isRequested = judged.map { $0.requested >= $0.until } ?? false
        case .probing: (row.state, trouble) = (.probing, self.trouble)
        }
        (row.code, row.since) = (trouble?.code, trouble?.since.wall)
        (row.limit, row.inFlight) = (share, inUse.all)
        return row
    }
}
