internal import Foundation
internal import TestPixels
internal import TestSupport

/// What the origin serves, by path: damaged files, and whole pictures that are all different.
struct Pictures: Sendable {
    private let seed: UInt64
    private let seeds: [[UInt8]]
    private let whole = Pixels.photograph(width: 64, height: 48, seed: 5).png

    init(seed: UInt64) {
        self.seed = seed
        let found = ["formats", "malformed", "orientation", "pngsuite"].flatMap { Shared.pictures($0) }
            .compactMap { try? Data(contentsOf: $0) }.filter { (1...65_536).contains($0.count) }
        seeds = found.map { Array($0) } + [whole]
    }

    func file(_ path: String) -> [UInt8]? {
        let words = path.split(separator: "/")
        switch (words.first, words.last) {
        case ("f", let number?):
            guard let number = UInt64(number) else { return nil }
            var random = SeededRandom(seed: seed &+ number)
            return Mutation.of(random.pick(seeds), with: [random.pick(seeds)], &random)
        case ("i", let name?): return innocent(name)
        default: return nil
        }
    }

    /// A picture with a name in it.
    func innocent(_ name: some CustomStringConvertible) -> [UInt8] {
        let header = 33
        return whole[..<header] + Pixels.chunk("tEXt", Array("Title\0\(name)".utf8)) + whole[header...]
    }
}
