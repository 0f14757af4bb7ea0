internal import Canonical
package import Clocks
internal import Failures
internal import Hosts
package import ImageModel
package import Ports
package import Records

/// The active pauses of a partition, and the controls whose effect on them no durable row has yet.
///
/// The owner keeps pauses in its progress row, and finishes a control's record once a row has its effect. So a pause of a day
/// holds no position back: an unfinished record would let a partition read 32,768 later controls, and no resume after them.
package struct Pauses: Sendable {
    /// A control with its result, which its outcome reports once it is durable.
    package struct Decided: Sendable {
        package let control: Control
        /// The control's record without its parts that no outcome needs.
        package let record: Record
        package let isApplied: Bool
    }

    /// One for each scope, in the order of their controls.
    package private(set) var all: [Pause] = []
    private var unrecorded: [Decided] = []

    package init() {}

    package var isEmpty: Bool { all.isEmpty }

    /// Takes over the pauses that earlier owners left.
    package mutating func takeOver(_ left: [Pause]) { all = left }

    /// Ends pauses whose time is over.
    mutating func end(at now: WallTime) { if !all.isEmpty { all.removeAll { $0.isOver(at: now) } } }

    /// Applies a pause or a resume. A pause takes the place of one with the same scope. Returns the reason of a refusal.
    package mutating func apply(_ control: Control, _ record: Record, at now: WallTime) -> ControlFailure? {
        end(at: now)
        let before = all
        guard let scope = control.pauseScope else { return nil }
        var isApplied = false
        if let until = control.until {
            let pause = Pause(
                control.id, scope, since: record.timestamp, until: until, by: control.by, why: control.why)
            all.removeAll { $0.scope == scope }
            guard !pause.isOfHost || all.count(where: \.isOfHost) < Pause.hostLimit else {
                return .invalid(reason: "\(Pause.hostLimit) hosts are paused. End some of these pauses first, or pause a lane")
            }
            // An earlier owner may have taken it over already, and ended before its outcome.
            isApplied = !pause.isOver(at: now)
            if isApplied { all.append(pause) }
        } else {
            all.removeAll { scope == .all || $0.scope == scope }
            isApplied = all != before
        }
        unrecorded.append(Decided(control: control, record: record.placed, isApplied: isApplied))
        return nil
    }

    /// Controls whose effect is durable now: the newest row has the active pauses.
    package mutating func recorded(_ row: [Pause]) -> [Decided] {
        guard !unrecorded.isEmpty, row == all else { return [] }
        defer { unrecorded = [] }
        return unrecorded
    }

    /// The pause that holds back a lane's jobs of all hosts; nil: none does.
    package func holding(_ lane: Lane) -> Pause? { all.first { $0.holds(lane) } }
    /// The pause that holds back a host's jobs.
    func holding(_ host: OriginHost) -> Pause? { all.first { $0.holds(host) } }
    /// The pause of one of these hosts, to which a running fetch is redirected. Other pauses let it end.
    func redirect(to hosts: [OriginHost]) -> (host: OriginHost, pause: Pause)? {
        for pause in all {
            guard case .host = pause.scope, let host = hosts.first(where: pause.holds) else { continue }
            return (host, pause)
        }
        return nil
    }

    /// The pause that holds back the parked jobs of a host and lane.
    package func holding(_ share: ParkedShare) -> Pause? { holding(share.lane) ?? holding(share.host) }
}

extension Record {
    /// The record without its body and headers, for the outcome of a control. No source has a long key.
    var placed: Record {
        var record = self
        (record.value, record.headers) = (nil, [])
        record.key = key.count > 64 ? [] : key
        return record
    }
}
