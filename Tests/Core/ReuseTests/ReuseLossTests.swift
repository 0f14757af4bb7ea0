import Foundation
import ImageModel
import Images
import Planning
import Ports
import Posix
import TestPixels
import TestSupport
import Testing
import VariantSpec

/// The loss table's promise, held against images that it was not measured by: other sizes, modes, qualities and ratios, at
/// random, over every second photograph and every second drawing, as PNG and as JPEG.
@Suite("Reuse: the loss is within the budget", .serialized, .timeLimit(.minutes(120)))
struct ReuseLossTests {
    /// A source of the property.
    enum Subject: Sendable {
        case photograph(URL)
        case drawing(Int, ImageFormat)

        var studio: Studio {
            get async throws {
                switch self {
                case .photograph(let file):
                    return try await Studio(OpenFile(reading: file.path), named: file.lastPathComponent)
                case .drawing(let number, let format):
                    let pixels = Drawing.numbered(number, width: 1_400, height: 1_000)
                    let drawn = try await Studio(pixels, named: "drawing \(number)")
                    if format == .png { return drawn }
                    let spec = try VariantSpec("full-q90.\(format.suffix)")
                    let made = try await drawn.direct([
                        RenderOrder(spec: spec, output: drawn.source.size, crop: Region(whole: drawn.source.size))
                    ])
                    return try await Studio(made[0].content.copy(), named: "drawing \(number) as \(format)")
                }
            }
        }
    }

    /// The loss of each pair, and the number of requests; a donor answered one of them for each pair.
    private struct Found {
        var losses: [(ReuseCase, Double)] = []
        var asked = 0

        mutating func add(_ other: Found) { (losses, asked) = (losses + other.losses, asked + other.asked) }
    }

    private static let isHere = SSIMULACRA2.isHere && Shared.has("images/photos")
    private static let casesPerSource = Effort.count("MEZZOTINT_PAIRS", landing: 3, all: 110)
    /// With MEZZOTINT_SHOW each cell's mean and worst are printed, and each pair beyond the budget.
    private static let isShown = ProcessInfo.processInfo.environment["MEZZOTINT_SHOW"] != nil

    /// Seen to fail with one table of photographs' means: of 368 pairs 26 were beyond the budget, the worst by 9 points. Before
    /// that, while donors were cut at whole pixels, 15 of 235 reused variants were, by up to 28 points.
    @Test(
        "On photographs, text and line drawings: 1 pair in 200 is beyond the budget at most, and none by more than 4 points",
        .enabled(if: isHere, Comment(rawValue: Shared.absent)))
    func losses() async throws {
        let photographs = Shared.pictures("photos").enumerated().filter { $0.offset % 2 == 0 }
            .map { Subject.photograph($0.element) }
        let drawings = stride(from: 0, to: Drawing.count, by: 2).map { Subject.drawing($0, .png) }
        let found = try await Self.found(of: photographs + drawings)
        // Of drawings little is reused.
        #expect(found.losses.count > photographs.count * Self.casesPerSource * 3 / 4)
        hold(found)
    }

    /// Seen to fail while a JPEG counted as a photograph: of 645 pairs 25 were beyond the budget, by up to 12.6 points, 23 of
    /// them of screens and 20 from a PNG. With the edges of the donor in place of the source's 19 were: a screen of 480 px has
    /// hardly more of them than a photograph.
    @Test(
        "On drawings that are JPEG, as on all others",
        .enabled(if: isHere, Comment(rawValue: Shared.absent)))
    func drawingsAsJPEG() async throws {
        let drawings = stride(from: 0, to: Drawing.count, by: 2).map { Subject.drawing($0, .jpeg) }
        hold(try await Self.found(of: drawings))
    }

    private static func found(of subjects: [Subject]) async throws -> Found {
        try await withThrowingTaskGroup(of: Found.self) { group in
            for part in 0..<2 {
                group.addTask {
                    var all = Found()
                    for (number, subject) in subjects.enumerated() where number % 2 == part {
                        all.add(try await Self.losses(in: subject, seed: UInt64(number)))
                    }
                    return all
                }
            }
            return try await group.reduce(into: Found()) { $0.add($1) }
        }
    }

    private func hold(_ found: Found) {
        let losses = found.losses
        if Self.isShown { show(losses, of: found.asked) }
        let budget = ReuseRules().lossBudget
        let beyond = losses.filter { $0.1 > budget }.map { "\($0.0.spec) from \($0.0.donor.spec): \($0.1)" }
        #expect(beyond.count <= (losses.count + 199) / 200, "of \(losses.count): \(beyond)")
        #expect(losses.allSatisfy { $0.1 <= budget + 4 }, "\(beyond)")
        let mean = losses.map(\.1).reduce(0, +) / Double(max(1, losses.count))
        #expect(mean <= budget / 2, "over all \(losses.count) pairs the mean is \(mean)")
    }

    private func show(_ losses: [(ReuseCase, Double)], of asked: Int) {
        let cells = Dictionary(grouping: losses) { $0.0.cell }.mapValues { $0.map(\.1) }
        for (cell, found) in cells.sorted(by: { $0.key < $1.key }) {
            let (mean, worst) = (found.reduce(0, +) / Double(found.count), found.max() ?? 0)
            print("\(cell): \(found.count) pairs, mean \(String(format: "%.2f, worst %.2f", mean, worst))")
        }
        let sorted = losses.map(\.1).sorted()
        print(
            "\(sorted.count) pairs of \(asked) requests, mean \(sorted.reduce(0, +) / Double(sorted.count)), p95 \(sorted[sorted.count * 95 / 100]), worst \(sorted.last ?? 0)"
        )
        for (reuse, loss) in losses where loss > ReuseRules().lossBudget {
            print("BEYOND \(reuse.source) \(reuse.spec) from \(reuse.donor.spec) \(reuse.order.crop): \(loss)")
        }
    }

    private static func losses(in subject: Subject, seed: UInt64) async throws -> Found {
        var random = SeededRandom(seed: seed)
        var studio = try await subject.studio
        let long = min(2600, max(studio.source.size.width, studio.source.size.height))
        let donors = Set((0..<8).map { _ in VariantSpec.randomDonor(upTo: long, using: &random) }).sorted {
            "\($0)" < "\($1)"
        }
        try await studio.store(donors)
        let folder = try TemporaryFolder()
        let (cases, asked) = ReuseCase.random(studio, upTo: 400, count: casesPerSource, using: &random)
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
        return Found(losses: losses, asked: asked)
    }
}

extension TemporaryFolder {
    fileprivate func write(_ variant: RenderedVariant, _ name: String) throws -> URL {
        let file = url.appending(path: "\(name).\(variant.spec.format.suffix)")
        try Data(variant.content.bytes()).write(to: file)
        return file
    }
}
