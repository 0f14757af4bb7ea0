internal import Canonical
internal import ImageModel
internal import Records

/// Jobs whose origins never give what they ask for, each of a source of its own: how often they are tried.
///
/// By a chance of their own, so that all else of a seed is as it would be without them.
final class Hopeless {
    static let count = 6
    private static let first = Origins.sourceCount + PoisonJobs.count

    unowned(unsafe) let world: World
    private var chance: Chance
    private var published = 0
    /// By job: fetches that were begun.
    private var tries = [Int](repeating: 0, count: count)
    /// By job: in which ownership of its partition it was published.
    private var owners = [Int64](repeating: 0, count: count)

    init(_ world: World, seed: UInt64) { (self.world, chance) = (world, Chance(seed: seed ^ 0x484F_5045)) }

    /// The job that alone asks for the source, if that is one of these.
    static func number(of source: Int) -> Int? { source < first ? nil : source - first }

    private static func name(_ job: Int) -> String { "hopeless-\(job)" }

    func publishSoon() {
        for _ in 0..<Self.count / 2 { world.after(chance.within(0...50_000_000)) { [self] in _ = publishNext() } }
        // At one of them partitions change hands, whatever else goes wrong.
        world.after(chance.within(1_000_000...20_000_000)) { [self] in
            world.after(publishNext()) { [self] in if !world.isCalm { world.group.rebalance() } }
        }
    }

    /// Publishes another one, if there is one left. Returns when it will have been tried some times, microseconds.
    func publishNext() -> Int64 {
        guard published < Self.count else { return 0 }
        let source = world.catalogue.sources[Self.first + published]
        let job = Job(
            id: Self.name(published), url: source.url, source: source.key,
            variants: chance.pick(world.catalogue.wishes), lane: chance.isOne(in: 3) ? .slow : .fast, expires: nil)
        owners[published] = world.ownerships.newest(of: source.partition)
        published += 1
        world.count(.publishedHopeless)
        world.cluster.publish(job.newRecord(partitions: Cluster.partitionCount, at: world.wall))
        return chance.within(200_000...2_500_000)
    }

    /// A worker fetches a source. Who took a partition over from an owner that ended in any other way than in good order may
    /// know of no try.
    func meet(_ source: Int) {
        guard let job = Self.number(of: source) else { return }
        tries[job] += 1
        let partition = world.catalogue.sources[source].partition
        guard let ends = world.ownerships.badEnds(of: partition, since: owners[job]),
            tries[job] > World.attempts * (1 + ends)
        else { return }
        world.fail(.attempts, "\(Self.name(job)) is tried for the \(tries[job]). time, after \(ends) bad ends")
    }

    /// A job was answered: after as many tries as the rule says. One that was moved aside may come back while its try runs on,
    /// so that this counts twice.
    func answered(_ id: String, _ report: OutcomeReport) {
        guard let job = (0..<Self.count).first(where: { id == Self.name($0) }) else { return }
        // An owner whose index is being rebuilt leaves without a word, and one that stops aborts a try without counting it.
        let isExact =
            world.isHarmless && world.counts[.indexDamaged] + world.counts[.indexAway] + world.counts[.terminated] == 0
        let isLess = tries[job] < World.attempts && world.counts[.movedAside] == 0
        if report.kind != .dead || (isExact && (tries[job] > World.attempts || isLess)) {
            world.fail(.attempts, "\(id) is \(report.kind.rawValue) after \(tries[job]) tries")
        }
    }
}
