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

@Suite("Pictures: what becomes of each file that is damaged, odd or hostile", .timeLimit(.minutes(5)))
struct OutcomeTests {
    private static let folders = ["formats", "malformed", "orientation", "photos", "pngsuite"]
    private static let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "outcomes.golden.txt")

    /// MEZZOTINT_GOLDEN=write writes the file anew: read the difference before it is committed.
    @Test(
        "Each ends as the golden file says, and no renderer ends",
        .enabled(if: folders.allSatisfy { Shared.has("images/\($0)") }, Comment(rawValue: Shared.absent)))
    func outcomes() async throws {
        let pool = RendererPool(Workshop.configuration(count: 2))
        let lines = try await withThrowingTaskGroup(of: String.self) { group in
            for folder in Self.folders {
                for url in Shared.pictures(folder) {
                    group.addTask { "\(folder)/\(url.lastPathComponent): \(try await Self.outcome(of: url, pool))" }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted()
        }
        #expect(pool.losses == 0)
        await pool.stop()
        let text = lines.joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["MEZZOTINT_GOLDEN"] == "write" {
            try text.write(to: Self.golden, atomically: true, encoding: .utf8)
        }
        let expected = try String(contentsOf: Self.golden, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines.count == expected.count)
        for (line, wanted) in zip(lines, expected) { #expect(line == wanted) }
    }

    /// The source's size and what came out, or the failure's code.
    private static func outcome(of url: URL, _ pool: RendererPool) async throws -> String {
        do {
            let picture = try await pool.inspect(try Workshop.file(url))
            let facts = picture.facts
            let scale = min(1, 64 / Double(max(facts.size.width, facts.size.height)))
            let width = max(1, Int((Double(facts.size.width) * scale).rounded()))
            let height = max(1, Int((Double(facts.size.height) * scale).rounded()))
            let variants = try await pool.render(
                picture, [ImageFormat.webp, .jpeg, .png].map { Workshop.order(width, height, $0, of: facts.size) },
                isReuse: false)
            for variant in variants {
                let read = try await pool.inspect(try Workshop.file(try variant.content.bytes()))
                #expect(read.facts.size == PixelSize(width: width, height: height), "\(url.lastPathComponent)")
            }
            var notes = facts.orientation == 1 ? "" : ", orientation \(facts.orientation)"
            if facts.frames > 1 { notes += ", \(facts.frames) frames" }
            if facts.hasAlpha { notes += ", alpha" }
            if facts.isTruncated { notes += ", truncated" }
            return "\(facts.format.rawValue) \(facts.size.width)x\(facts.size.height)\(notes)"
        } catch let failure as RenderFailure {
            #expect(failure.verdict == .fail, "\(url.lastPathComponent): \(failure)")
            return "\(failure.code): \(failure)"
        }
    }
}
