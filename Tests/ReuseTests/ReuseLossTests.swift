import Foundation
import ImageModel
import Planning
import Ports
import Posix
import TestSupport
import Testing
import VariantSpec

/// What the loss table promises, held against pictures that it was not measured by: other sizes, modes, qualities and
/// ratios, at random, over every second photograph.
@Suite("Reuse: the mean loss is within the budget", .serialized, .timeLimit(.minutes(20)))
struct ReuseLossTests {
    private static let isHere = SSIMULACRA2.isHere && Shared.has("images/photos")
    private static let casesPerPhotograph = Effort.count(landing: 3, all: 15)
    /// With MEZZOTINT_SHOW each cell's mean and worst are printed.
    private static let isShown = ProcessInfo.processInfo.environment["MEZZOTINT_SHOW"] != nil

    @Test(
        "On photographs, whatever the formats, qualities and sizes",
        .enabled(if: isHere, Comment(rawValue: Shared.absent)))
    func losses() async throws {
        let photographs = Shared.pictures("photos").enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        let losses = try await withThrowingTaskGroup(of: [(ReuseCase, Double)].self) { group in
            for part in 0..<2 {
                group.addTask {
                    var losses: [(ReuseCase, Double)] = []
                    for (number, file) in photographs.enumerated() where number % 2 == part {
                        losses += try await Self.losses(in: file, seed: UInt64(number))
                    }
                    return losses
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(losses.count > photographs.count * Self.casesPerPhotograph * 4 / 5)
        let cells = Dictionary(grouping: losses) { $0.0.cell }.mapValues { $0.map(\.1) }
        for (cell, found) in cells.sorted(by: { $0.key < $1.key }) {
            let mean = found.reduce(0, +) / Double(found.count)
            if Self.isShown {
                print(
                    "\(cell): \(found.count) pictures, mean \(String(format: "%.2f", mean)), worst \(String(format: "%.2f", found.max() ?? 0))"
                )
            }
            // A mean of few says little of a cell.
            if found.count >= 5 {
                #expect(mean <= ReuseRules().lossBudget, "\(cell): \(mean) over \(found.count) pictures")
            }
        }
        let mean = losses.map(\.1).reduce(0, +) / Double(losses.count)
        #expect(mean <= ReuseRules().lossBudget / 2, "over all \(losses.count) pictures the mean is \(mean)")
    }

    private static func losses(in photograph: URL, seed: UInt64) async throws -> [(ReuseCase, Double)] {
        var random = SeededRandom(seed: seed)
        var studio = try await Studio(OpenFile(reading: photograph.path))
        let long = min(2600, max(studio.source.size.width, studio.source.size.height))
        let donors = Set((0..<8).map { _ in VariantSpec.randomDonor(upTo: long, using: &random) }).sorted {
            "\($0)" < "\($1)"
        }
        try await studio.store(donors)
        let folder = try TemporaryFolder()
        let cases = ReuseCase.random(studio, upTo: 400, count: casesPerPhotograph, using: &random).cases
        var losses: [(ReuseCase, Double)] = []
        for reuse in cases {
            // The measure has no meaning below a few blocks of 8 pixels.
            guard min(reuse.order.output.width, reuse.order.output.height) >= 32 else { continue }
            let orders = reuse.fromSource(reuse.spec.placement(of: studio.source.size))
            let direct = try await studio.direct([orders[0]])
            let reused = try await studio.reused(reuse.donor, [reuse.order])
            let reference = try await folder.write(studio.ideal(orders[1]), "reference")
            let straight = try await SSIMULACRA2.score(folder.write(direct[0], "direct"), against: reference)
            let loss = straight - (try await SSIMULACRA2.score(folder.write(reused[0], "reused"), against: reference))
            losses.append((reuse, loss))
        }
        return losses
    }
}

extension TemporaryFolder {
    fileprivate func write(_ variant: RenderedVariant, _ name: String) throws -> URL {
        let file = url.appending(path: "\(name).\(variant.spec.format.suffix)")
        try Data(variant.content.bytes()).write(to: file)
        return file
    }
}
