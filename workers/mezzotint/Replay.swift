internal import Canonical
internal import Clocks
import CommandLine
internal import Failures
internal import ImageModel
import LogChoice
import Ports
import Posix
internal import Records
import Settings

/// One replay of dead letters: their records, and the pace at which they are published.
///
/// A letter with an invalid job stays on the list: published unchanged, it would only become a dead letter again.
struct Replay {
    private let log: any Log
    private let settings: Settings
    /// Letters that can be replayed, oldest first.
    let ready: [One]
    /// Letters whose jobs are durable on their lanes, so that they left the list.
    private(set) var done: [DeadLetter] = []

    struct One {
        let deadLetter: DeadLetter
        /// Partition of the letter in `dead`.
        let partition: PartitionID
    }

    /// Most jobs of one append.
    private static let most = 500

    /// Names the letters that stay on the list, each with the reason.
    ///
    /// - Parameter most: a letter stays if its job was replayed this often.
    init(_ log: any Log, _ settings: Settings, _ deadLetters: [(deadLetter: DeadLetter, partition: PartitionID)], most: Int) {
        (self.log, self.settings) = (log, settings)
        var (ready, refused): ([One], Int) = ([], 0)
        for (deadLetter, partition) in deadLetters {
            do throws(Refusal) {
                try Self.check(deadLetter, log, settings, most: most)
                ready.append(One(deadLetter: deadLetter, partition: partition))
            } catch {
                refused += 1
                if refused <= Self.printedRefusals { Console.complain("Dead letter '\(deadLetter.id)': \(error.text)") }
            }
        }
        if refused > Self.printedRefusals {
            Console.complain("More dead letters stay on the list: \(refused - Self.printedRefusals).")
        }
        self.ready = ready
    }

    private static let printedRefusals = 20

    /// Why a letter is not replayed, in one sentence.
    private struct Refusal: Error { let text: String }

    private static func check(_ deadLetter: DeadLetter, _ log: any Log, _ settings: Settings, most: Int) throws(Refusal) {
        guard deadLetter.whole == nil else {
            throw Refusal(
                text:
                    "it has only the first \(deadLetter.body.count) bytes of its job: publish the whole job again by hand.")
        }
        guard deadLetter.replays < most else {
            throw Refusal(
                text:
                    "its job was replayed \(deadLetter.replays) times and died each time. Find the cause (\(deadLetter.cause.code)), discard it, or raise --max-replays."
            )
        }
        do throws(JobFailure) { _ = try record(deadLetter, log, settings) } catch {
            throw Refusal(text: "\(error) (\(error.code))")
        }
    }

    private static func record(_ deadLetter: DeadLetter, _ log: any Log, _ settings: Settings) throws(JobFailure)
        -> NewRecord
    {
        try deadLetter.replay(
            by: Intake(rules: settings.canonicalRules), signedBy: settings.jobKeys, partitions: log.partitionCount,
            at: SystemTime.wall)
    }

    /// Publishes the jobs.
    ///
    /// - Parameters:
    ///   - rate: most jobs in a second; nil: as fast as the log takes them.
    ///   - ramp: how long to wait for the outcomes of a batch; nil: all jobs are one batch, and nothing is waited for.
    ///   - body: receives each letter that left the list.
    /// - Returns: why it stopped before its end; nil if it did not.
    mutating func run(rate: Int?, ramp wait: Duration?, _ body: (DeadLetter) -> Void) async throws -> String? {
        var (ramp, rest) = (ReplayRamp(), ready[...])
        var pace = Pace(rate)
        while !rest.isEmpty {
            let batch = rest.prefix(wait == nil ? rest.count : ramp.next(of: rest.count))
            rest = rest.dropFirst(batch.count)
            var outcomes = wait == nil ? nil : try await OutcomeWait(in: log)
            for one in batch { outcomes?.add(one.deadLetter.id, replays: one.deadLetter.replays + 1) }
            var slice = batch
            while !slice.isEmpty {
                let now = slice.prefix(min(pace.slice, Self.most))
                slice = slice.dropFirst(now.count)
                try await publish(now, body)
                if !rest.isEmpty || !slice.isEmpty { try await pace.wait(after: now.count) }
            }
            guard let wait, outcomes != nil else { continue }
            var (failed, last): (Int, OutcomeReport?) = (0, nil)
            try await outcomes?.run(for: wait) { _, report in
                guard report.kind.isFailure else { return }
                (failed, last) = (failed + 1, report)
            }
            if ReplayRamp.stops(failed: failed, of: batch.count), let last {
                return
                    "The replay stopped: \(failed) of \(batch.count) jobs of the last batch failed, the newest with \(last.failure?.code ?? last.kind.rawValue). \(rest.count) letters were not replayed. 'mezzotint outcomes --failed' shows the failed jobs."
            }
            if let left = outcomes?.left, left > 0 {
                return
                    "The replay stopped: \(left) of \(batch.count) jobs of the last batch have no outcome after \(Output.age(wait)). \(rest.count) letters were not replayed. Check that workers run ('mezzotint lag'), or raise --timeout."
            }
        }
        return nil
    }

    /// Appends jobs, and then removes their letters from the list: only a job that is durable on its lane leaves it.
    private mutating func publish(_ batch: some Collection<One>, _ body: (DeadLetter) -> Void) async throws {
        let records = try batch.map { try Self.record($0.deadLetter, log, settings) }
        let results = await log.appendRepeating(records)
        let published = zip(batch, results).filter { $0.1.failure == nil }.map(\.0)
        let now = SystemTime.wall
        try await log.publish(
            published.map { $0.deadLetter.discard(partition: $0.partition, at: now, replayedAs: $0.deadLetter.id) })
        for one in published { body(one.deadLetter) }
        done += published.map(\.deadLetter)
        if let failure = results.lazy.compactMap(\.failure).first { throw failure }
    }

    /// Pauses that keep a rate. Time in which nothing was published is not made up for.
    private struct Pace {
        private let rate: Int?
        private var next = SystemTime.monotonic

        init(_ rate: Int?) { self.rate = rate }

        /// Jobs of a tenth of a second.
        var slice: Int { rate.map { max(1, $0 / 10) } ?? .max }

        mutating func wait(after count: Int) async throws {
            guard let rate else { return }
            let (now, step) = (SystemTime.monotonic, Duration.milliseconds(Int64(count) * 1_000 / Int64(rate)))
            next = max(next, now - step) + step
            if next > now { try await Task.sleep(for: next - now) }
        }
    }
}
