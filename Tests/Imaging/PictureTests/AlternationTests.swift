import Failures
internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import RendererPool
import TestSupport
internal import Testing
internal import VariantSpec

/// Seen to fail, with signal 11 and other bytes: children of one parent shared the machine code that liborc compiles.
///
/// A renderer process that is reused, forked ahead or replaced must render what any other renders.
@Suite("Alternation: no image is wrong while hosts alternate and processes are killed", .timeLimit(.minutes(5)))
struct AlternationTests {
    private static let folders = ["formats", "photos", "pngsuite"]
    private static let hosts = 11

    @Test(
        "Files of many hosts in turn give the bytes that one process gives, and only killed processes are lost",
        .enabled(if: folders.allSatisfy { Shared.has("images/\($0)") }, Comment(rawValue: Shared.absent)),
        arguments: [RenderIsolation.origin, .image])
    func alternating(isolation: RenderIsolation) async throws {
        let files = Self.folders.flatMap { Shared.pictures($0).prefix($0 == "photos" ? 6 : .max) }
        let alone = Self.pool(.none, count: 2)
        let expected = try await Self.each(Array(files.enumerated())) { index, url in
            [index: try await Self.outcome(of: url, number: index, origin: nil, alone)]
        }.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        #expect(alone.losses == 0)
        await alone.stop()
        #expect(expected.values.count { $0.hasPrefix("sizes") } > 80)

        // Five slots: a pool that shares parents has more than one family.
        let pool = Self.pool(isolation, count: 5)
        var random = SeededRandom(seed: 33)
        var permitted = 0
        // Nothing is killed in the first round, so nothing may be lost in it.
        for round in 0...Effort.count("MEZZOTINT_ALTERNATIONS", landing: 1, all: 20) {
            let differences = try await Self.each(files.enumerated().shuffled(using: &random)) { index, url in
                let origin = (index + round) % (Self.hosts + 1)
                let outcome = try await Self.outcome(
                    of: url, number: index, origin: origin == Self.hosts ? nil : "http://\(origin).example", pool)
                return outcome == expected[index] ? nil : "\(url.lastPathComponent): \(outcome)"
            } between: { number in
                // A parent takes the renders of all its children with it: four at work, and four that begin as it ends.
                if round > 0, number % 97 == 96, let parent = pool.parents.randomElement(using: &random) {
                    parent.kill()
                    permitted += 8
                } else if round > 0, number % 13 == 12, let process = pool.processes.randomElement(using: &random) {
                    process.kill()
                    permitted += 1
                }
            }
            #expect(differences.compactMap(\.self).isEmpty, "\(differences.compactMap(\.self))")
            #expect(pool.losses <= permitted && (permitted > 0) == (round > 0))
        }
        await pool.stop()
    }

    private static func pool(_ isolation: RenderIsolation, count: Int) -> RendererPool {
        var configuration = Workshop.configuration(count: count)
        configuration.isolation = isolation
        return RendererPool(configuration)
    }

    /// Ten at a time; `between` is called before each.
    private static func each<Item: Sendable, Value: Sendable>(
        _ items: [Item], _ body: @escaping @Sendable (Item) async throws -> Value,
        between: (Int) -> Void = { _ in }
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { group in
            var values: [Value] = []
            for (number, item) in items.enumerated() {
                if number >= 10, let value = try await group.next() { values.append(value) }
                between(number)
                group.addTask { try await body(item) }
            }
            for try await value in group { values.append(value) }
            return values
        }
    }

    /// The size and a digest of each variant's bytes, or why there are none. A render whose process was killed is tried again.
    private static func outcome(of url: URL, number: Int, origin: String?, _ pool: RendererPool) async throws -> String
    {
        for _ in 0..<20 {
            do {
                let picture = try await pool.inspect(try OpenFile(reading: url.path))
                let facts = picture.facts
                var specs = ["64x64.webp", "320x320.jpg", "full.png"]
                if facts.size.pixels > 100_000 { specs[2] = "300y200.png" }
                if number % 16 == 0 { specs.append("48x48.avif") }
                let orders = try specs.map { try Workshop.order($0, of: facts.size) }
                let variants = try await pool.render(picture, orders, isReuse: false, origin: origin)
                return "sizes \(try variants.map { "\($0.content.length) \(try $0.content.bytes().hashValue)" })"
            } catch let failure as RenderFailure {
                if failure.code != "render.crashed" { return "\(failure)" }
            }
        }
        return "crashed again and again"
    }
}
