internal import Foundation
internal import TestPixels
internal import TestSupport

/// The origin's files, by path: damaged files, and undamaged pictures that all differ.
struct Pictures: Sendable {
    private let seed: UInt64
    /// Files by format, so that no format has most of them; files refused undamaged count as one format.
    private let seeds: [[[UInt8]]]
    private let whole = Pixels.photograph(width: 64, height: 48, seed: 5).png

    init(seed: UInt64) {
        self.seed = seed
        let corpus = Project.file("Tests/Imaging/RenderingTests/Corpus")
        let own = (try? FileManager.default.contentsOfDirectory(at: corpus, includingPropertiesForKeys: nil)) ?? []
        let sound = ["formats", "orientation", "pngsuite"].flatMap { Shared.pictures($0) }
        let files = (own + sound).sorted { $0.lastPathComponent < $1.lastPathComponent }
            .compactMap { try? Data(contentsOf: $0) }.filter { (1...98_304).contains($0.count) }.map { Array($0) }
        let malformed = Shared.pictures("malformed").compactMap { try? Data(contentsOf: $0) }
            .filter { (1...65_536).contains($0.count) }.map { Array($0) }
        let kinds = Dictionary(grouping: files + [whole], by: PictureParts.kind)
        let read: [PictureParts.Kind] = [.jpeg, .png, .webp, .gif, .heif]
        let refused = PictureParts.Kind.allCases.filter { !read.contains($0) }.flatMap { kinds[$0] ?? [] }
        seeds = (read.map { kinds[$0] ?? [] } + [refused + malformed]).filter { !$0.isEmpty }
    }

    func file(_ path: String) -> [UInt8]? {
        let words = path.split(separator: "/")
        switch (words.first, words.last) {
        case ("f", let number?): return UInt64(number).map(damaged)
        case ("i", let name?): return innocent(name)
        default: return nil
        }
    }

    /// Damages mostly a little: files refused at their first bytes test little.
    private func damaged(_ number: UInt64) -> [UInt8] {
        var random = SeededRandom(seed: seed &+ number)
        let file = random.pick(random.pick(seeds))
        switch random.below(10) {
        case 0..<4: return PictureParts.summed(Mutation.light(file, &random))
        case 4: return Mutation.light(file, &random)
        case 5: return PictureParts(file).swapped(&random)
        case 6, 7: return PictureParts(file).told(&random)
        default: return Mutation.of(file, with: [random.pick(random.pick(seeds))], &random)
        }
    }

    /// An undamaged picture with a name in it.
    func innocent(_ name: some CustomStringConvertible) -> [UInt8] {
        let header = 33
        return whole[..<header] + Pixels.chunk("tEXt", Array("Title\0\(name)".utf8)) + whole[header...]
    }
}
