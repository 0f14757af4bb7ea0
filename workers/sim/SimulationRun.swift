internal import Clocks
internal import CommandLine
internal import Posix
internal import Simulation
internal import Synchronization

/// The seeds of one command line, run on two threads.
struct SimulationRun {
    private let seeds: ClosedRange<UInt64>
    private let steps: Int
    private let plant: Plant?
    private let isTraced: Bool
    private let isJSON: Bool

    init(_ arguments: ParsedArguments) throws(UsageError) {
        switch (arguments.value("seeds"), try arguments.number("seed", in: 0...Int.max)) {
        case (let text?, nil): seeds = try Self.range(text)
        case (nil, let seed?): seeds = UInt64(seed)...UInt64(seed)
        default: throw UsageError("Give either --seeds, as in --seeds 1-1000, or --seed.")
        }
        steps = try arguments.number("steps", in: 1...10_000_000) ?? Simulation.usualSteps
        plant = arguments.value("plant").flatMap { Plant(rawValue: $0) }
        isTraced = arguments.flag("trace")
        isJSON = arguments.flag("json")
        if isTraced, seeds.count > 1 { throw UsageError("--trace prints one seed: give --seed.") }
    }

    private static func range(_ text: String) throws(UsageError) -> ClosedRange<UInt64> {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last - first < 1 << 32 else {
            throw UsageError(
                "--seeds takes two whole numbers, the first not above the second, as in 1-1000, not '\(text)'.")
        }
        return first...last
    }

    /// Number of seeds that show every type of fault and transition.
    private static let seedsOfAllKinds = 5_000

    func perform() async -> ExitCode {
        OpenFileLimit.raise()
        let started = SystemTime.monotonic
        let total = await run()
        let seconds = (SystemTime.monotonic - started).seconds
        let failed = total.failed.sorted { $0.seed < $1.seed }
        for failure in failed.prefix(20) { print("seed \(failure.seed): \(failure.broken)") }
        for rule in Rule.allCases {
            guard let first = failed.first(where: { $0.broken.rule == rule }) else { continue }
            let count = failed.count { $0.broken.rule == rule }
            let number = first.seed - seeds.lowerBound + 1
            print("\(count) of \(seeds.count) seeds, the first of them number \(number): \(rule.rawValue)")
        }
        for happening in Happening.allCases { print("\(happening) \(total.counts[happening])") }
        if !isJSON {
            print("never happened: \(total.counts.missing.map { "\($0)" }.joined(separator: ", "))")
            print("\(seeds.count) seeds, \(total.steps) events, \(Int(Double(seeds.count) / seconds)) seeds a second")
        }
        let showsAll = plant == nil && seeds.count >= Self.seedsOfAllKinds && steps >= Simulation.usualSteps
        let missing = showsAll ? total.counts.missing.map { "\($0)" }.joined(separator: ", ") : ""
        if !missing.isEmpty { print("\(seeds.count) seeds, and never \(missing).") }
        let numbers = failed.map { "\($0.seed)" }.joined(separator: ",")
        print("{\"seeds\":\(seeds.count),\"failed\":[\(numbers)],\"hash\":\"\(String(total.hash, radix: 16))\"}")
        return failed.isEmpty && missing.isEmpty ? .success : .failure
    }

    private struct Total {
        var failed: [(seed: UInt64, broken: Broken)] = []
        var hash: UInt64 = 0
        var counts = Counts()
        var steps = 0
        var next: UInt64
        var threads = 2
    }

    private func run() async -> Total {
        let total = Shared(Total(next: seeds.lowerBound))
        await withCheckedContinuation { done in
            for _ in 0..<Total(next: 0).threads {
                OwnThread.start("simulation") {
                    while let seed = total.value.withLock({ self.take(&$0) }) { self.run(seed, total) }
                    let isLast = total.value.withLock { total in
                        total.threads -= 1
                        return total.threads == 0
                    }
                    if isLast { done.resume() }
                }
            }
        }
        return total.value.withLock { $0 }
    }

    private func take(_ total: inout Total) -> UInt64? {
        guard seeds.contains(total.next) else { return nil }
        total.next += 1
        return total.next - 1
    }

    private func run(_ seed: UInt64, _ total: Shared) {
        let result = Simulation.run(seed: seed, steps: steps, plant: plant, print: isTraced ? { print($0) } : nil)
        total.value.withLock { total in
            if let broken = result.broken { total.failed.append((seed, broken)) }
            // Combined over all seeds, independent of their order.
            total.hash ^= result.hash &* (seed &* 2 &+ 1)
            total.counts += result.counts
            total.steps += result.steps
        }
    }

    private final class Shared: Sendable {
        let value: Mutex<Total>
        init(_ total: sending Total) { value = Mutex(total) }
    }
}
