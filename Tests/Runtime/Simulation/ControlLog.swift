internal import Canonical
internal import Clocks
internal import ImageModel
internal import Ports
internal import Records

/// Controls: records that publishers write, and what must become of the jobs that they name. By a chance of its own.
final class ControlLog {
    unowned(unsafe) let world: World
    private var chance: Chance
    private var published = 0
    /// By partition: the controls that its log was given, in order.
    private var landed: [PartitionID: [Landed]] = [:]
    /// Jobs by the id of their fate.
    private var jobs: [String: (job: Job, record: Record)] = [:]

    private var strayed: Set<String> = []

    private struct Landed {
        let control: Control
        let record: Record
        /// Microseconds.
        let time: Int64
    }

    init(_ world: World, seed: UInt64) { (self.world, chance) = (world, Chance(seed: seed ^ 0x434F_4E54)) }

    func publishSoon() {
        guard chance.isOne(in: 2) else { return }
        for _ in 0..<16 {
            world.after(chance.within(500_000...50_000_000)) { [self] in if world.publishes { publish() } }
        }
    }

    private func publish() {
        published += 1
        let id = "control-\(published)"
        let verb = chance.isOne(in: 4) ? chance.pick([Control.Verb.promote, .demote]) : .cancel
        let source = world.catalogue.sources[chance.below(24)]
        let isBySource = chance.isOne(in: 3)
        // Jobs that wait, or run.
        let open = world.ledger.open.map(\.id).filter { $0.hasPrefix("job-") || $0.hasPrefix("parked-") }
        let recent = "job-\(max(1, world.published - chance.below(6)))"
        let scope: Control.Scope =
            isBySource
            ? .source(source.key, source.url)
            : .job(open.isEmpty || chance.isOne(in: 3) ? recent : chance.pick(open))
        world.count(.publishedControl)
        for partition in isBySource ? [source.partition] : Cluster.partitions {
            var control = Control(id: id, verb, scope, at: world.wall)
            if chance.isOne(in: 2) {
                for topic in Topic.lanes { control.ends[topic] = world.cluster.log(topic, partition).end }
            }
            let record = control.newRecord(partition: partition)
            world.after(chance.within(0...200_000)) { [world] in world.cluster.publish(record) }
        }
    }

    /// Id of a control's fate in its partition.
    static func id(_ id: String, _ partition: PartitionID) -> String { "\(id)/\(partition)" }

    /// Id of the fate that an outcome of a control ends.
    static func id(endedBy outcome: NewRecord) -> String {
        let id = outcome.headers.withFirst(EventHeader.id) { String(decoding: $0, as: UTF8.self) } ?? ""
        return self.id(String(id.prefix { $0 != "/" }), outcome.partition)
    }

    /// A control is in the log.
    func landed(_ record: Record) {
        guard let control = try? Control(record, rules: world.catalogue.rules) else { return }
        landed[record.partition, default: []].append(Landed(control: control, record: record, time: world.now))
    }

    /// A job is in the log for the first time.
    func accepted(_ id: String, _ record: Record) {
        if let job = try? world.intake.job(from: record) { jobs[id] = (job, record) }
    }

    /// A mis-keyed job is published again in its own partition, maybe behind the end of a control that named it.
    func rekeyed(_ id: String) { strayed.insert(id) }

    /// Whether jobs of a partition may work on another lane than their publishers chose.
    func moves(in partition: PartitionID) -> Bool { landed[partition]?.contains { if case .move = $0.control.verb.action { true } else { false } } ?? false }

    private func isNamed(_ id: String, by known: Landed) -> Bool {
        guard let (job, first) = jobs[id] else { return false }
        return known.control.names(job)
            && known.control.isAfter(
                JobIdentity(of: first), published: first.timestamp, appended: known.record.timestamp)
    }

    /// A job has an outcome.
    func answered(_ id: String, _ report: OutcomeReport, by owner: Ownerships.Key) {
        if strayed.contains(id) { return }
        let due = landed[owner.partition, default: []].filter { $0.control.verb == .cancel && isNamed(id, by: $0) }
        if report.kind == .cancelled {
            if due.isEmpty { world.fail(.control, "\(id) is cancelled, and no control asked for that") }
        } else if report.kind != .dead, !isMissed, let mark = world.ownerships.marked(owner),
            let first = due.first(where: { $0.time < mark })
        {
            // Its owner read all controls from before its time first.
            world.fail(.control, "\(id) is \(report.kind.rawValue), though \(first.control.id) came before its owner")
        }
    }

    /// Whether owners may lack controls, or read jobs before them, because the topic was away or offsets were changed: what an
    /// operator lets run once more is not cancelled again.
    private var isMissed: Bool {
        Self.misses.contains { world.counts[$0] > 0 }
    }
    static let misses: [Happening] = [
        .topicAway, .questionFailed, .resetEarliest, .resetLatest, .offsetsExpired, .recreated, .truncated, .retained,
    ]

    /// A control is over: none of the jobs that it names is left.
    func ended(_ id: String, open: [Ledger.Fate]) {
        world.count(.controlEnded)
        for (partition, controls) in landed {
            guard let known = controls.first(where: { Self.id($0.control.id, partition) == id }), known.control.verb == .cancel
            else { continue }
            if let left = open.first(where: {
                $0.partition == partition && !strayed.contains($0.id) && isNamed($0.id, by: known)
            }) {
                world.fail(.control, "\(id) is over, and \(left.id) has no outcome")
            }
        }
    }
}

extension NewRecord {
    /// Whether the record of `outcomes` is of a control.
    var isOfControl: Bool {
        Record(
            topic: topic, partition: partition, offset: 0, timestamp: .epoch, key: [], value: nil, headers: headers
        ).isOfControl
    }
}
