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

    /// All that `ops/campaign --truth` finds of the kind in ../shared/images. sharp refuses them, too.
    @Test(
        "What we call damaged and Pillow decodes is damaged, or no reader of PNG by the book takes it",
        .enabled(if: Shared.has("images/malformed"), Comment(rawValue: Shared.absent)),
        arguments: [
            // Pillow shows noise, and grey behind its end.
            ("5482a54657765056f1a94116a8dbffe7.jpg", "Corrupt JPEG data: premature end of data segment"),
            // 31,237 rows by its header, in 613 bytes: Pillow shows grey.
            ("8e5e74dbf9b68a322fbb9512db837329.jpg", "Corrupt JPEG data: found marker 0xea instead of RST1"),
            // Compression method 128; there is none but 0.
            ("a1d1aafb5bca660229f8e9fc65291eab.png", "Invalid IHDR data"),
            // A palette of no colours: beside true colour, where libpng and so browsers refuse it all the same, ...
            ("b583e48e218193e4c287f033931a6314.png", "Invalid palette"),
            // ... and where each pixel is one of them. Pillow shows black.
            ("f427b6bee1acd1fea3ec953bc556a18a.png", "Invalid palette"),
            // Its compressed data do not end as they should. Pillow shows black.
            ("c-m1-6bfb149151f58d124d6fa76eaad75520.png", "libpng read error"),
        ])
    func damaged(name: String, reason: String) async throws {
        let url = try #require(Shared.part("images/malformed/\(name)"))
        await #expect {
            let picture = try await Workshop.pool.inspect(Workshop.file(url))
            let order = Workshop.order(1, 1, .png, of: picture.facts.size)
            _ = try await Workshop.pool.render(picture, [order], isReuse: false)
        } throws: { error in
            guard case .malformed(_, let text) = error as? RenderFailure else { return false }
            return text.contains(reason)
        }
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
