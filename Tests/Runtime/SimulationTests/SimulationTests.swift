import Foundation
import Simulation
import TestSupport
import Testing

/// In a process of its own: Swift orders sets and dictionaries by chance, but for a process that is told not to.
@Suite("Three workers in a simulated world", .timeLimit(.minutes(60)))
struct SimulationTests {
    private struct Run {
        let ended: Ended
        var last: String { String(ended.lines.last ?? "") }
        func count(_ happening: Happening) -> Int {
            let line = ended.lines.first { $0.hasPrefix("\(happening) ") }
            return line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
        }
        /// Of all seeds.
        var events: Int? {
            ended.lines.lazy.compactMap { $0.firstMatch(of: #/, (\d+) events,/#) }.first.flatMap { Int($0.1) }
        }
        /// The first that broke this rule.
        func seed(brokenBy rule: Rule) -> Int? {
            ended.lines.lazy.compactMap { $0.firstMatch(of: #/^seed (\d+): (.+) at \d+ ms: /#) }
                .first { $0.2 == rule.rawValue }.flatMap { Int($0.1) }
        }
    }

    private func run(_ words: String...) throws -> Run { Run(ended: try Built.run("mezzotint-sim", words)) }

    private struct Result: Decodable {
        let seeds: Int
        let failed: [Int]
    }

    @Test("No rule is broken, and every fault and every step is seen")
    func rules() throws {
        let run = try run("--seeds", "1-\(Self.seeds)")
        let result = try JSONDecoder().decode(Result.self, from: Data(run.last.utf8))
        #expect(result.seeds == Self.seeds)
        #expect(result.failed == [], "\(run.ended.output)")
        for happening in Happening.allCases { #expect(run.count(happening) > 0, "\(happening) never happened") }
    }

    /// `MEZZOTINT_SEEDS` for more.
    private static let seeds = Effort.count("MEZZOTINT_SEEDS", fast: 200, landing: 500, all: 100_000)

    @Test("The same seeds give the same hash, and others another")
    func repeatable() throws {
        let (a, b, c) = (
            try run("--seeds", "1-8", "--json"), try run("--seeds", "1-8", "--json"),
            try run("--seeds", "2-9", "--json")
        )
        #expect(a.last == b.last)
        #expect(a.last != c.last)
    }

    @Test("A trace shows what happened, and ends as the seed does")
    func trace() throws {
        let run = try run("--seed", "3", "--trace", "--json")
        #expect(run.ended.lines.count > 500)
        #expect(run.last.hasPrefix(#"{"seeds":1,"#))
    }

    @Test("A bug that is put into the world is found, by the rule that is there for it", arguments: Plant.allCases)
    func plants(_ plant: Plant) throws {
        // Most show in each second seed; one that few seeds show is looked for longer.
        for seeds in ["1-10", "11-40", "41-100", "101-200", "201-300", "301-400", "401-500", "501-600"] {
            let planted = try run("--seeds", seeds, "--plant", plant.rawValue, "--json")
            guard let seed = planted.seed(brokenBy: plant.rule) else { continue }
            #expect(planted.ended.status == 1)
            let sound = try run("--seed", "\(seed)", "--json")
            #expect(sound.ended.status == 0, "seed \(seed): \(sound.ended.errors)")
            if sound.seed(brokenBy: plant.rule) == nil { return }
        }
        Issue.record("\(plant.rawValue) was not found")
    }

    @Test("Every rule has a bug that it finds", arguments: Rule.allCases)
    func found(_ rule: Rule) {
        #expect(Plant.allCases.contains { $0.rule == rule }, "\(rule.rawValue)")
    }

    @Test("A run has as many events as it is told to, and what follows from them")
    func steps() throws {
        let (few, usual) = (try run("--seed", "3", "--steps", "100"), try run("--seed", "3"))
        #expect(few.ended.status == 0)
        let (a, b) = (try #require(few.events), try #require(usual.events))
        #expect((100..<b).contains(a) && b >= 1_000, "\(a) and \(b) events")
    }

    @Test(
        "Wrong arguments are refused with one sentence",
        arguments: [
            ["--seeds", "7"], ["--seeds", "9-1"], ["--seed", "x"], [], ["--seeds", "1-9", "--trace"],
            ["--plant", "none"],
        ])
    func usage(_ words: [String]) throws {
        let ended = try Built.run("mezzotint-sim", words)
        #expect(ended.status == 2)
        #expect(!ended.errors.isEmpty)
    }
}
