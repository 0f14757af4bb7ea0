internal import Canonical
package import Clocks
package import ImageModel
internal import Positions
package import Records

/// The controls that still apply to jobs of the partition.
///
/// A control is active from its arrival until each job that was published before it has an outcome or a row of `parked`, and
/// the rows that it names were examined. Its record is finished only then, so the next owner reads it again: no row of its
/// own keeps it. Applied twice, it changes nothing more.
package struct Controls: Sendable {
    package struct Standing: Sendable {
        package fileprivate(set) var control: Control
        /// The control's record without its parts that no outcome needs.
        package let record: Record
        /// Ends of the topics that jobs come from, as the log had them after the control was read; nil until it was asked.
        var ends: [Topic: Int64]?
        /// Number of jobs that it ended or moved.
        package var jobs = 0

        package var place: RecordPlace { RecordPlace(record) }
    }

    /// In the order of their arrival.
    package private(set) var all: [Standing] = []
    /// Numbers of standing controls by the job or source that they name, and the number of the others.
    private var jobs: [String: Int] = [:]
    private var sources: [SourceKey: Int] = [:]
    private var filters = 0
    /// Controls that were read: the place of each, by id.
    private var seen: [String: (place: RecordPlace, at: WallTime)] = [:]

    package init() {}

    package var isEmpty: Bool { all.isEmpty }
    package var hasUnbound: Bool { all.contains { $0.ends == nil } }

    /// Notes the id of a control. False: another record had it, within the time in which a signed control is accepted twice over.
    package mutating func isNew(_ control: Control, _ record: Record, at now: WallTime) -> Bool {
        let place = RecordPlace(record)
        guard seen[control.id].map({ $0.place == place }) ?? true else { return false }
        if seen.count >= 1_024 { seen = seen.filter { now - $0.value.at < Self.memory } }
        seen[control.id] = (place, now)
        return true
    }

    /// Adds a control that moves or cancels jobs.
    package mutating func add(_ control: Control, _ record: Record) {
        all.append(Standing(control: control, record: record.placed))
        count(control.scope, 1)
    }

    private static let memory = Control.ageLimit + Control.ageLimit

    private mutating func count(_ scope: Control.Scope, _ step: Int) {
        switch scope {
        case .job(let id): jobs[id] = (jobs[id] ?? 0) + step > 0 ? (jobs[id] ?? 0) + step : nil
        case .source(let source, _): sources[source] = (sources[source] ?? 0) + step > 0 ? (sources[source] ?? 0) + step : nil
        case .filter, .all: filters += step
        }
    }

    /// Notes the ends of the topics that jobs come from, for these controls, which were read before.
    mutating func bound(_ places: Set<RecordPlace>, _ ends: [Topic: Int64]) {
        for index in all.indices where all[index].ends == nil && places.contains(all[index].place) {
            let stated = all[index].control.ends
            all[index].ends = ends.reduce(into: [:]) { $0[$1.key] = min($1.value, stated[$1.key] ?? .max) }
        }
    }

    /// Forgets offsets of a topic whose log was replaced.
    mutating func forgetOffsets(of topic: Topic) {
        for index in all.indices {
            all[index].ends?[topic] = nil
            all[index].control.ends[topic] = nil
        }
    }

    mutating func count(_ place: RecordPlace, jobs: Int) {
        if let index = all.firstIndex(where: { $0.place == place }) { all[index].jobs += jobs }
    }

    mutating func remove(_ place: RecordPlace) -> Standing? {
        guard let index = all.firstIndex(where: { $0.place == place }) else { return nil }
        count(all[index].control.scope, -1)
        return all.remove(at: index)
    }

    /// Controls whose topics have no unfinished record from before them. One that moves jobs waits for the older ones, which
    /// would move its jobs back.
    ///
    /// - Parameter committable: offset below which every record of a topic is finished; nil if reading has not begun.
    func passed(_ committable: (Topic) -> Int64?) -> [Standing] {
        var isBehindMove = false
        return all.filter { standing in
            defer { if standing.control.verb.movesJobs { isBehindMove = true } }
            if standing.control.verb.movesJobs, isBehindMove { return false }
            return standing.ends?.allSatisfy { topic, end in committable(topic).map { $0 >= end } ?? false } ?? false
        }
    }

    /// Whether a control waits for records of a topic that came before it.
    ///
    /// - Parameter committable: offset below which every record of the topic is finished; nil if reading has not begun.
    package func await(_ topic: Topic, from committable: Int64?) -> Bool {
        all.contains { standing in standing.ends?[topic].map { committable ?? 0 < $0 } ?? false }
    }

    /// Effect of the active controls on a job. The newest counts: a later `promote` takes an earlier `demote`
    /// back. A `cancel` is final.
    ///
    /// - Parameter record: the job's record, or its row of `parked`.
    package func ruling(on job: Job, _ record: Record, firstSeen: WallTime) -> Ruling? {
        guard filters > 0 || jobs[job.id] != nil || sources[job.source] != nil else { return nil }
        let known = Candidate(job, record, firstSeen: firstSeen)
        var ruling: Ruling?
        for standing in all where standing.applies(to: known) {
            ruling = Ruling(place: standing.place, control: standing.control)
            if standing.control.verb.action == .cancel { return ruling }
        }
        return ruling
    }
}

/// A job that controls may be about, with its parts that each of them compares.
struct Candidate {
    let job: Job
    let host: OriginHost
    let identity: JobIdentity
    /// Whether it is a row of `parked`, whose first record may be of an earlier log.
    let isParked: Bool
    let published: WallTime

    init(_ job: Job, _ record: Record, firstSeen: WallTime) {
        (self.job, published, isParked) = (job, firstSeen, record.topic == .parked)
        (host, identity) = (OriginHost(of: job.url.fetched), JobIdentity(of: record))
    }
}

/// What a control demands of one job.
package struct Ruling: Sendable {
    /// Record of the control.
    package let place: RecordPlace
    package let control: Control
    package var action: Control.Action { control.verb.action }
}

extension Control.Verb {
    fileprivate var movesJobs: Bool { if case .move = action { true } else { false } }
}

extension Controls.Standing {
    func applies(to known: Candidate) -> Bool {
        // A record at or behind the asked end is later, even if clocks differ.
        if !known.isParked, let ends, case .record(let first) = known.identity, let end = ends[first.topic],
            first.offset >= end
        {
            return false
        }
        return control.names(known.job, of: known.host)
            && control.isAfter(known.identity, published: known.published, appended: record.timestamp)
    }
}
