internal import Ledger

/// Runs seeds: three workers of the product in one world each.
package enum Simulation {
    /// What one seed came to.
    package struct Result: Sendable {
        package let seed: UInt64
        package let broken: Broken?
        package let hash: UInt64
        package let counts: Counts
        /// Events, less those that are only clocks.
        package let steps: Int
    }

    package static let usualSteps = 1_000

    /// - Parameters:
    ///   - steps: events until faults end; what is left is then brought to its end.
    ///   - print: gets each line of the trace.
    package static func run(
        seed: UInt64, steps: Int = usualSteps, plant: Plant? = nil, print: ((String) -> Void)? = nil
    ) -> Result {
        Invariants.check()
        let world = World(seed: seed, plant: plant, print: print)
        world.run(steps: steps)
        return Result(
            seed: seed, broken: world.broken, hash: world.trace.hash, counts: world.counts, steps: world.steps)
    }
}
