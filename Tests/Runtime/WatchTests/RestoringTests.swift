import Clocks
import ImageModel
import Ports
import Records
import TestSupport
import Testing

@testable import Watch

@Suite("Which partitions are being restored", .timeLimit(.minutes(1)))
struct RestoringTests {
    private static func number(_ partition: Int32) -> PartitionID { PartitionID(partition) }

    private static func epoch(_ partition: Int32, _ epoch: Int64, at time: WallTime) -> WatchEvent {
        .epoch(EpochRow(partition: number(partition), epoch: epoch, owner: "w", isClean: false, at: time))
    }

    /// Half of four partitions went from one worker to another.
    private static func rebalanced(_ workers: [WorkerSight]) -> Scene {
        var scene = Scene()
        scene.workers = workers
        scene.look()
        for partition in 0..<4 as Range<Int32> { scene.apply(epoch(partition, 1, at: scene.now)) }
        scene.look(60)
        for partition in 0..<2 as Range<Int32> { scene.owners[number(partition)] = "w2@10.0.0.2" }
        scene.look()
        return scene
    }

    private static func states(_ scene: Scene) -> [WatchReport.PartitionReport.State] {
        scene.report.partitions.map(\.state)
    }

    /// Seen to fail: no-worker, no-owner and no-worker again while a worker joined the group.
    @Test("A worker that started seconds ago is no fault of its own: the cause stays until it has had time to join")
    func joining() {
        var scene = Scene()
        scene.publish(4, to: .jobsFast, 0)
        scene.look()
        (scene.owners, scene.workers) = ([:], [])
        scene.look(8)
        #expect(scene.report.diagnosis.cause == .noWorker)
        var figures = Scene.figures(owned: 0)
        figures.started = scene.now
        scene.workers = [WorkerSight("10.0.0.1:9464", .figures(figures))]
        scene.look(4)
        let diagnosis = scene.report.diagnosis
        #expect(diagnosis.cause == .noWorker && diagnosis.action.hasPrefix("Wait a few seconds: "))
        #expect(diagnosis.headline.hasSuffix(". 1 worker started a few seconds ago."), "\(diagnosis.headline)")
        scene.look(8)
        #expect(scene.report.diagnosis.cause == .noOwner)
    }

    @Test("A partition whose owner just came is unknown until its changelog was read to its end")
    func unread() {
        var scene = Self.rebalanced([])
        #expect(Self.states(scene) == [.unknown, .unknown, .owned, .owned])
        #expect(scene.report.diagnosis.cause == .fine, "\(scene.report.diagnosis.sentence)")
        #expect(scene.state.partitionsToProve == [Self.number(0), Self.number(1)])
        // What was read before the owner came says nothing of it.
        scene.apply(.changelog(Self.number(0), readAt: scene.now - 1))
        #expect(Self.states(scene)[0] == .unknown)
        scene.apply(.changelog(Self.number(0), readAt: scene.now))
        #expect(Self.states(scene)[0] == .restoring)
        #expect(scene.report.diagnosis.sentence.hasPrefix("1 of 4 partitions are being restored. "))
        // Longest ago first.
        #expect(scene.state.partitionsToProve == [Self.number(1), Self.number(0)])
        scene.apply(.changelog(Self.number(0), readAt: nil))
        #expect(Self.states(scene)[0] == .unknown)
        scene.apply(Self.epoch(0, 2, at: scene.now))
        scene.apply(.progress(ProgressRow(partition: Self.number(1), topics: [:], at: scene.now + 1)))
        #expect(Self.states(scene) == [.owned, .owned, .owned, .owned] && scene.state.partitionsToProve == [])
    }

    @Test(
        "After a crash the group names the dead member, then nobody: the page says so as soon as a rebalance would be over"
    )
    func crashed() {
        var scene = Scene()
        scene.look(4)
        let sight = { (owned: Int) in
            WorkerSight("10.0.0.1:9464", .figures(Scene.figures(owned: owned, restoring: owned, rowsLeft: 9 * owned)))
        }
        // No job waits, and the worker that was started again has no partitions while the session of the dead one lasts.
        scene.workers = [sight(0)]
        scene.look(10)
        #expect(scene.report.diagnosis.cause == .fine)
        scene.owners = [:]
        scene.look(4)
        #expect(scene.report.diagnosis.cause == .fine)
        scene.look(4)
        #expect(scene.report.diagnosis.cause == .noOwner)
        #expect(
            scene.report.diagnosis.sentence.hasPrefix("No partition has had an owner since ")
                && scene.report.diagnosis.sentence.contains(", though 1 worker responds."))
        for number in 0..<4 as Range<Int32> { scene.owners[PartitionID(number)] = "w1@10.0.0.1" }
        scene.workers = [sight(4)]
        scene.look()
        #expect(scene.report.diagnosis.cause == .restoring)
    }

    @Test("Workers that answer and own all partitions are believed, whatever rows were read")
    func told() {
        let scene = { (restoring: Int?) in
            var figures = [Scene.figures(owned: 2), Scene.figures(owned: 2)]
            figures[1].restoring = restoring
            var scene = Self.rebalanced(figures.enumerated().map { WorkerSight("10.0.0.\($0):9464", .figures($1)) })
            scene.apply(.changelog(Self.number(0), readAt: scene.now))
            return scene
        }
        #expect(Self.states(scene(0)) == [.owned, .owned, .owned, .owned] && scene(0).state.partitionsToProve == [])
        #expect(scene(0).report.diagnosis.cause == .fine)
        #expect(Self.states(scene(2)) == [.restoring, .unknown, .owned, .owned])
        #expect(scene(2).report.diagnosis.sentence.hasPrefix("2 of 4 partitions are being restored"))
        // One that does not tell, or does not answer, leaves it to the rows.
        #expect(Self.states(scene(nil)) == [.restoring, .unknown, .owned, .owned])
        var partly = scene(0)
        partly.workers[1] = WorkerSight("10.0.0.1:9464", .silent("connection refused"))
        partly.look()
        #expect(Self.states(partly)[0] == .restoring)
    }

    @Test("A worker of an older version that tells of no rows has none to go, and nothing that stands still")
    func older() {
        var scene = Scene()
        var figures = Scene.figures(owned: 4, restoring: 2)
        figures.rowsLeft = nil
        scene.workers = [WorkerSight("10.0.0.1:9464", .figures(figures))]
        scene.look(60)
        #expect(scene.report.diagnosis.sentence.hasPrefix("2 of 4 partitions are being restored. "))
    }

    @Test("Changelogs of partitions whose owner just came are read before all other ends")
    func urgent() {
        var tails = TailReading(partitions: 3, topics: [.dead, .outcomes, .variants])
        for topic in tails.topics {
            for partition in 0..<3 as Range<Int32> {
                tails.learn(
                    PartitionOffsets(topic: topic, partition: Self.number(partition), bounds: 0..<9, committed: nil))
            }
        }
        #expect(tails.next(2, records: 5).map(\.topic) == [.dead, .dead])
        let points = tails.next(2, records: 5, urgent: [Self.number(2)])
        #expect(points == [LogPoint(.variants, Self.number(2), 4), LogPoint(.dead, Self.number(2), 0)])
        let last = Record(
            topic: .variants, partition: Self.number(2), offset: 8, timestamp: 0, key: [], value: [], headers: [])
        #expect(!tails.isRead(.variants, Self.number(2)))
        #expect(tails.read(points[0], [last]) && tails.isRead(.variants, Self.number(2)))
        tails.learn(PartitionOffsets(topic: .variants, partition: Self.number(2), bounds: 0..<10, committed: nil))
        #expect(!tails.isRead(.variants, Self.number(2)))
    }
}
