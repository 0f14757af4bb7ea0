import Clocks
import Failures
import ImageModel
internal import Jobs
import Ledger
internal import Partition
import Permits
import Ports
import Records

/// One partition and the permits of its worker, run as `Worker` runs them, over an index without rows. Appends
/// are acknowledged at once; the test decides how fetches and renders end.
struct Performer: ~Copyable {
    var state: PartitionState
    var permits: PermitScheduler
    var now: Moment = 0
    /// Work that began, until the test takes it out.
    var fetches: [(flight: FlightID, request: FetchRequest)] = []
    var renders: [(flight: FlightID, task: RenderTask)] = []
    var answers: [(record: Record, disposition: Disposition)] = []
    private var offsets: [Topic: Int64] = [:]

    init(_ rules: PartitionRules, _ permits: PermitRules) {
        state = PartitionState(PartitionID(0), rules: rules, seed: 1)
        self.permits = PermitScheduler(permits)
    }

    mutating func feed(_ event: PartitionEvent) {
        var work: [Effect] = []
        state.run(event, at: now, permits: &permits, into: &work) { _ in SourceSnapshot() }
        for effect in work {
            switch effect {
            case .fetch(let flight, let request): fetches.append((flight, request))
            case .render(let flight, let task): renders.append((flight, task))
            case .abort(let flight): permits.forget(flight)
            case .complete(let record, let disposition):
                answers.append((record, disposition))
                feed(.acknowledged([RecordPlace(record)]))
            case .await, .checked, .control, .stoodIn, .putOff, .commit, .tell: break
            }
        }
    }

    /// As `Worker.grant`.
    mutating func grant() {
        passOnHeld()
        for (kind, flight) in permits.grants(at: now) { feed(.granted(kind, flight)) }
        passOnHeld()
    }

    private mutating func passOnHeld() {
        for (flight, hold) in permits.takeHeld(at: now) { feed(.held(flight, hold)) }
    }

    /// The next record of a topic.
    mutating func record(_ topic: Topic, headers: RecordHeaders = []) -> Record {
        defer { offsets[topic, default: 0] += 1 }
        return Record(
            topic: topic, partition: PartitionID(0), offset: offsets[topic, default: 0], timestamp: now.wall, key: [],
            value: [], headers: headers)
    }

    mutating func publish(_ job: Job) { feed(.arrived(PendingJob(job: job, record: record(.jobs(job.lane))))) }

    /// Rows that were written to `parked`.
    var parked: [ParkedDouble] { answers.compactMap(\.disposition.parked) }
}
