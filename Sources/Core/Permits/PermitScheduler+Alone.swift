package import Clocks
package import Ledger
internal import Quarantine

/// Isolated runs of quarantined jobs: flights in progress get the permits that they need to end, and nothing else
/// starts.
extension PermitScheduler {
    package func holds(_ kind: PermitKind, _ flight: FlightID) -> Bool {
        entries[flight]?.holds.contains(kind) ?? false
    }

    /// Ends an isolated run, because no row names its flight as in progress any more.
    package mutating func endIsolatedRun(at now: Moment) { isolatedRuns.cleared(at: now.monotonic) }

    mutating func isolate(_ asked: IsolatedRuns.Request, due: Instant) {
        if isolatedRuns.flight == asked.flight {
            // Another quarantined job joined the flight. It already waits for its permit, or has it and is being named.
            if entries[asked.flight].map({ $0.waits == nil && !$0.holds.contains(asked.kind) }) ?? true {
                request(asked)
            }
            return
        }
        if isDraining { return }
        // A quarantined job may have joined a flight that already waits for its permit.
        drop(asked.flight)
        isolatedRuns.add(asked, due: due)
    }

    /// Grants while an isolated run needs them. nil: others may start. While this machine has a fault, one of those is
    /// the probe, if there is any.
    mutating func aloneGrants(at now: Moment) -> [Grant]? {
        guard isolatedRuns.isClosed || (isolatedRuns.isWanted && (machine.isClosed || entries.isEmpty)) else {
            return nil
        }
        let isUnderWay = entries.values.contains(where: \.isUnderWay)
        if let next = isolatedRuns.step(at: now.monotonic, isUnderWay: isUnderWay, isIdle: entries.isEmpty) {
            request(next)
        }
        guard isolatedRuns.isClosed else { return nil }
        let waiting = entries.filter { $0.value.waits != nil && ($0.value.isUnderWay || $0.key == isolatedRuns.flight) }
        return grants(for: waiting.keys.sorted())
    }

    private mutating func request(_ asked: IsolatedRuns.Request) {
        request(asked.kind, asked.flight, lane: asked.lane, since: asked.since, host: asked.host)
    }
}
