internal import Clocks
internal import ImageModel
internal import Records

/// A fetch whose jobs have all expired is aborted.
extension Flights {
    /// Each half second: a worker looks once in a second and a half at most.
    func lookSoon() {
        world.tick(after: 500_000) { [self] in
            if world.isHarmless, !world.clocksJump { lookAtAbandoned() }
            lookSoon()
        }
    }

    private static let patience: Int64 = 2_500_000

    private func lookAtAbandoned() {
        for (key, since) in fetches where world.now - since > Self.patience {
            let partition = world.catalogue.sources[key.source].partition
            let all = (Topic.consumed + [.parked]).flatMap { world.cluster.log($0, partition).entries }
                .filter { world.catalogue.number(of: $0.record.key) == key.source }
            let jobs = all.filter { !$0.isFinished }
            let limit = World.wall(at: world.now - Self.patience)
            // A fetch whose jobs ended otherwise was not abandoned by their time.
            guard all.contains(where: { expires($0.record).map { $0 < limit } ?? false }) else { continue }
            // Jobs that were answered as expired are finished.
            guard jobs.allSatisfy({ expires($0.record).map { $0 < limit } ?? false }) else { continue }
            world.fail(.abandoned, "worker \(key.process), source \(key.source), \(jobs.count) jobs")
        }
    }

    private func expires(_ record: Record) -> WallTime? { (try? world.intake.job(from: record))?.expires }
}
