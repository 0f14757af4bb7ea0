package import Canonical
package import Clocks
package import ImageModel
internal import JSONText

/// A stop of new work: no fetch or render of a lane, of a host, or of all jobs starts until a time, or until a `resume`.
///
/// Jobs that run are completed. A partition keeps its pauses in its progress row, so that they survive restarts and
/// hand-overs.
package struct Pause: Sendable, Hashable {
    package enum Scope: Sendable, Hashable {
        case all
        /// Jobs that work on this lane.
        case lane(Lane)
        /// Jobs of a host name (`example.org`), of a URL's part before the path (`https://example.org:8443`), or of a group
        /// of hosts.
        case host(String)
    }

    /// Id of the control that began it.
    package let control: String
    package let scope: Scope
    /// Append time of that control.
    package let since: WallTime
    package let until: WallTime
    package let by: String?
    package let why: String?

    package init(
        _ control: String, _ scope: Scope, since: WallTime, until: WallTime, by: String? = nil, why: String? = nil
    ) {
        (self.control, self.scope, self.since, self.until) = (control, scope, since, until)
        (self.by, self.why) = (by, why)
    }

    /// Duration of a pause that does not state its end.
    package static let usual = Duration.minutes(30)
    /// Longest pause, as that of a blocked host. A paused lane stays unread, and retention must not remove its jobs.
    package static let longest = Duration.hours(24)
    /// Most paused hosts of one partition, because each progress row names all of them.
    package static let hostLimit = 32

    package var isOfHost: Bool { if case .host = scope { true } else { false } }

    package func holds(_ lane: Lane) -> Bool {
        switch scope {
        case .all: true
        case .lane(let own): own == lane
        case .host: false
        }
    }

    package func holds(_ host: OriginHost) -> Bool {
        switch scope {
        case .all: true
        case .lane: false
        case .host(let name): host.isNamed(name)
        }
    }

    /// - Parameter text: an `OriginHost` as text, as reports have it.
    package func holds(hostNamed text: String) -> Bool { holds(OriginHost(group: text)) }

    package func isOver(at now: WallTime) -> Bool { until <= now }

    /// Pauses of several partitions that are not over, each once, in the order of their ends.
    package static func active(_ pauses: some Sequence<Pause>, at now: WallTime) -> [Pause] {
        var byControl: [String: Pause] = [:]
        for pause in pauses where !pause.isOver(at: now) { byControl[pause.control] = pause }
        return byControl.values.sorted { ($0.until, $0.control) < ($1.until, $1.control) }
    }
}

extension Pause: CustomStringConvertible {
    /// `The control c-1 pauses the slow lane until …`, without a stop.
    package var description: String { "The control \(control) pauses \(scope) until \(Timestamp.text(until))" }
}

extension Pause.Scope: CustomStringConvertible {
    /// `the slow lane`, for people.
    package var description: String {
        switch self {
        case .all: "all jobs"
        case .lane(let lane): "the \(lane.rawValue) lane"
        case .host(let host): "host \(host)"
        }
    }
}

extension Control {
    /// Jobs that a `pause` or `resume` is about; nil for a scope that only other controls have.
    package var pauseScope: Pause.Scope? {
        switch scope {
        case .all: .all
        case .filter(let filter): filter.lane.map { .lane($0) } ?? filter.host.map { .host($0) }
        case .job, .source: nil
        }
    }
}

extension [Pause] {
    /// Numbers of pauses by scope, as metrics name it.
    package var counts: [String: Int] {
        var counts = ["all": 0, "host": 0]
        for lane in Lane.allCases { counts[lane.rawValue] = 0 }
        for pause in self {
            switch pause.scope {
            case .all: counts["all", default: 0] += 1
            case .lane(let lane): counts[lane.rawValue, default: 0] += 1
            case .host: counts["host", default: 0] += 1
            }
        }
        return counts
    }
}
