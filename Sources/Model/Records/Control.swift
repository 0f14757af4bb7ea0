package import Canonical
package import Clocks
package import ImageModel

/// A request about jobs: a record of the topic `control`.
///
/// A pause holds back all jobs that it names. Any other control applies to no job that is published later. A control that names a URL goes to the partition of its source. Any other
/// goes to every partition, one record each, all with the same id.
package struct Control: Sendable, Hashable {
    package enum Verb: String, Sendable, Hashable, CaseIterable {
        /// The jobs run on the fast lane. Their age and attempts stay.
        case promote
        /// The jobs run on the slow lane. Their age and attempts stay.
        case demote
        /// The jobs end as `cancelled`, unless their render has begun.
        case cancel
        /// No fetch or render of the jobs starts until a time.
        case pause
        /// Ends the pauses of the same scope, or all of them.
        case resume

        /// Names of all verbs for messages.
        package static let names = "\(allCases.dropLast().map(\.rawValue).joined(separator: ", ")) or \(allCases.last?.rawValue ?? "")"

        package var action: Action {
            switch self {
            case .promote: .move(.fast)
            case .demote: .move(.slow)
            case .cancel: .cancel
            case .pause: .pause
            case .resume: .resume
            }
        }
    }

    /// Effect of a verb.
    package enum Action: Sendable, Hashable {
        case move(Lane), cancel, pause, resume

        /// Whether the effect is a pause, or the end of one.
        package var isPausing: Bool { self == .pause || self == .resume }
    }

    /// Jobs that the control is about. Jobs of the worker's own are never among them.
    package enum Scope: Sendable, Hashable {
        /// Jobs with this id. Publishers may repeat an id.
        case job(String)
        case source(SourceKey, SourceURL)
        case filter(Filter)
        /// All jobs; only `pause` and `resume` have it.
        case all
    }

    /// Jobs that have all of the given properties; at least one is given.
    package struct Filter: Sendable, Hashable {
        /// A host name (`example.org`), or a URL's part before the path (`https://example.org:8443`).
        package var host: String?
        /// Lane that the job's publisher chose.
        package var lane: Lane?
        /// Jobs published before this time.
        package var before: WallTime?

        package init(host: String? = nil, lane: Lane? = nil, before: WallTime? = nil) {
            (self.host, self.lane, self.before) = (host, lane, before)
        }

        package var isEmpty: Bool { self == Filter() }
    }

    package var id: String
    package var verb: Verb
    package var scope: Scope
    /// Who published the control, and the reason, for people.
    package var by: String?
    package var why: String?
    /// Time at which the publisher wrote the control; nil if it does not state one.
    package var at: WallTime?
    /// Ends of the partition's lanes when the control was written; empty if its publisher does not know them.
    package var ends: [Topic: Int64]
    /// End of a `pause`; nil for other controls.
    package var until: WallTime?
    /// Whether a key of `jobs.keys` has signed it.
    package var isSigned = false

    package init(
        id: String, _ verb: Verb, _ scope: Scope, by: String? = nil, why: String? = nil, at: WallTime? = nil,
        ends: [Topic: Int64] = [:], until: WallTime? = nil
    ) {
        (self.id, self.verb, self.scope, self.by, self.why) = (id, verb, scope, by, why)
        (self.at, self.ends, self.until) = (at, ends, until)
    }

    /// Whether the control is about the job, if it was published before.
    package func names(_ job: Job) -> Bool { names(job, of: OriginHost(of: job.url.fetched)) }

    /// - Parameter host: the host of the job's URL.
    package func names(_ job: Job, of host: OriginHost) -> Bool {
        if job.isOwn || job.isChange { return false }
        switch scope {
        case .job(let id): return job.id == id
        case .source(let source, _): return job.source == source
        case .filter(let filter): return filter.host.map { host.isNamed($0) } ?? true
            && filter.lane.map { $0 == job.lane } ?? true
        case .all: return true
        }
    }

    /// How far the clocks of publishers and brokers may differ.
    static let clockSkew = Duration.minutes(1)

    /// Whether a job was published before the control.
    ///
    /// - Parameters:
    ///   - identity: the job's first record. Its offset counts if the control states the end of its topic.
    ///   - published: append time of that record.
    ///   - appended: append time of the control.
    package func isAfter(_ identity: JobIdentity, published: WallTime, appended: WallTime) -> Bool {
        if case .filter(let filter) = scope, let before = filter.before, published >= before { return false }
        // Whoever copies a signed control reaches no job from after its time.
        let time = isSigned ? min(appended, at ?? .distantPast) : appended
        guard case .record(let first) = identity, let end = ends[first.topic] else { return published <= time }
        // The brokers' clocks may differ.
        return first.offset < end && published <= time + Self.clockSkew
    }
}

extension OriginHost {
    /// Whether a filter's text names the host: by its name alone, or with scheme and port.
    /// Controls have it in small letters, and names of groups may have capitals.
    func isNamed(_ text: String) -> Bool {
        text == description || text.utf8.elementsEqual(name) || text == description.lowercased()
    }
}
