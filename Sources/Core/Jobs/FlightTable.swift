internal import Canonical
internal import Hosts
internal import ImageModel
internal import Ledger

/// The flights of a partition by id and by source, and the number of jobs that they hold for each host and lane.
///
/// Every change of a flight goes through the subscript, which keeps the three consistent.
struct FlightTable: Sendable {
    private var byID: [FlightID: Flight] = [:]
    private var bySource: [SourceKey: FlightID] = [:]
    /// Jobs in memory, by the host whose share they take, without zeros.
    private(set) var held: [HostLane: Int] = [:]

    /// nil: the flight does not exist, or is over.
    subscript(id: FlightID) -> Flight? {
        get { byID[id] }
        _modify {
            let before = byID[id].map { ($0.source, share: $0.hostLane, jobs: $0.jobCount) }
            defer {
                let after = byID[id].map { ($0.source, share: $0.hostLane, jobs: $0.jobCount) }
                if before?.share != after?.share || before?.jobs != after?.jobs {
                    if let before { hold(before.share, -before.jobs) }
                    if let after { hold(after.share, after.jobs) }
                }
                if before == nil, let after { bySource[after.0] = id }
                if after == nil, let before { bySource[before.0] = nil }
            }
            yield &byID[id]
        }
    }

    private mutating func hold(_ share: HostLane, _ step: Int) {
        let count = held[share, default: 0] + step
        held[share] = count == 0 ? nil : count
    }

    func flight(of source: SourceKey) -> FlightID? { bySource[source] }

    /// Number of the host's jobs on the lane that flights hold.
    func held(_ share: HostLane) -> Int { held[share, default: 0] }

    var isEmpty: Bool { byID.isEmpty }
    var ids: Dictionary<FlightID, Flight>.Keys { byID.keys }
    var all: Dictionary<FlightID, Flight>.Values { byID.values }

    /// Whether the indexes match the flights.
    var isConsistent: Bool {
        var jobs: [HostLane: Int] = [:]
        for flight in byID.values where flight.jobCount > 0 { jobs[flight.hostLane, default: 0] += flight.jobCount }
        return jobs == held && bySource.count == byID.count && byID.allSatisfy { bySource[$0.value.source] == $0.key }
    }
}
