import Failures
internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import RenderProtocol
internal import RendererPool
internal import TestPixels
import TestSupport
internal import Testing
import VariantSpec

/// Real children under real limits.
@Suite("Pictures: no memory is no damage", .timeLimit(.minutes(5)))
struct MemoryTests {
    /// A picture and what is made of it, from too little memory to plenty.
    struct Hunger: Sendable, CustomTestStringConvertible {
        let source: String
        let spec: String
        var engine = EngineChoice.direct
        let mebibytes: [Int]
        /// What a library said that was refused, where it is known when it asks.
        var says = "memory"
        /// Of libaom 3.6 a thread follows the null that it got now and then: a crash, and another attempt.
        var mayEndProcess = false
        var testDescription: String { "\(source) to \(spec) by \(engine.rawValue)" }
    }

    private static func pool(mebibytes: Int, _ engine: EngineChoice = .direct) -> RendererPool {
        var configuration = Workshop.configuration(count: 1)
        // What is measured is what one process has left.
        (configuration.engine, configuration.isolation) = (engine, .none)
        configuration.dataBytes = mebibytes << 20
        return RendererPool(configuration)
    }

    /// Case 10 is libjpeg's word for a file that has outgrown its buffer half-way. Seen to fail, by a double free, while that
    /// buffer was freed once more.
    @Test(
        "Whichever library is refused memory, the verdict is memory, and what comes out is what comes out with plenty",
        arguments: [
            Hunger(
                source: "full-q100.jpg", spec: "full-q100.jpg", mebibytes: [20, 28, 36, 40, 44, 46, 48, 50, 52, 54, 56, 60, 64, 68],
                says: "(case 10)"),
            Hunger(source: "full-q100.jpg", spec: "full.webp", mebibytes: [20, 28, 34, 38, 42, 46, 50, 54, 60]),
            Hunger(source: "full-q100.jpg", spec: "full.png", mebibytes: [56, 68, 74, 78, 80]),
            Hunger(
                source: "full-q100.jpg", spec: "full.avif", mebibytes: [56, 72, 80, 88, 96, 104], mayEndProcess: true),
            Hunger(
                source: "full-q100.jpg", spec: "full.jpg", engine: .libvips, mebibytes: [40, 60, 68, 72],
                says: "out of memory"),
            Hunger(source: "full.png", spec: "full.webp", mebibytes: [44, 60, 72]),
            Hunger(source: "full.webp", spec: "full.png", mebibytes: [44, 76, 84, 92, 96]),
            Hunger(source: "full.gif", spec: "full.gif", mebibytes: [60, 72, 80, 88, 100, 112, 116]),
            Hunger(source: "full.avif", spec: "300x300.jpg", mebibytes: [40, 48, 56, 64, 72]),
        ])
    func hungry(_ hunger: Hunger) async throws {
        let noise = Pixels.photograph(width: 1_500, height: 1_000, seed: 5)
        let source = try Workshop.file(
            try await Workshop.make(hunger.source, of: try Workshop.file(noise.png)).content.bytes())
        var told: [String] = []
        for mebibytes in hunger.mebibytes + [512] {
            let pool = Self.pool(mebibytes: mebibytes, hunger.engine)
            do {
                told.append("\(try await Workshop.make(hunger.spec, of: source, in: pool).content.bytes().hashValue)")
            } catch let failure as RenderFailure {
                let isLibrarys = hunger.mayEndProcess && failure.code == "render.crashed"
                #expect(failure.code == "render.out-of-memory" || isLibrarys, "\(mebibytes) MiB: \(failure)")
                told.append("\(failure)")
            }
            await pool.stop()
        }
        #expect(told.contains { $0.contains("needs more memory") && $0.contains(hunger.says) })
        #expect(Set(told.filter { !$0.contains(" ") }).count == 1 && told.last?.contains(" ") == false)
    }

    @Test("Who was refused memory makes way for a fresh one, and the next picture is rendered")
    func fresh() async throws {
        let pool = Self.pool(mebibytes: 64)
        try await pool.ready()
        let first = pool.processes.map(\.pid)
        let large = try Workshop.file(Sources.blackPNG(width: 3_000, height: 2_000))
        await #expect { try await Workshop.make("full.webp", of: large, in: pool) } throws: {
            ($0 as? RenderFailure)?.code == "render.out-of-memory"
        }
        let small = try Workshop.file(Pixels.map(width: 60, height: 40).png)
        #expect(try await Workshop.make("30x20.webp", of: small, in: pool).size.width == 30)
        #expect(pool.processes.map(\.pid) != first && pool.losses == 1)
        await pool.stop()
    }

    @Test("Where one output needs too much, it is named, and who had worked before is replaced before that counts")
    func oneOutput() async throws {
        let pool = Self.pool(mebibytes: 88)
        try await pool.ready()
        let small = try Workshop.file(Pixels.map(width: 60, height: 40).png)
        _ = try await Workshop.make("30x20.webp", of: small, in: pool)
        let noise = try Workshop.file(Pixels.photograph(width: 1_500, height: 1_000, seed: 5).png)
        let large = try Workshop.file(try await Workshop.make("full-q100.jpg", of: noise).content.bytes())
        let facts = try await pool.inspect(large).facts
        let orders = try ["20x20.webp", "full.avif"].map { try Workshop.order($0, of: facts.size) }
        let failure = await #expect(throws: RenderFailure.self) {
            try await Workshop.render(large, in: pool) { _ in orders }
        }
        guard case .outOfMemory(let spec, _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(
            spec == orders[1].spec && failure?.verdict == .fail && pool.losses == 2, "\(failure?.description ?? "")")
        #expect(try await Workshop.render(large, in: pool) { _ in [orders[0]] }.count == 1)
        await pool.stop()
    }

    /// As if `ulimit` had said less before the worker came.
    @Test("A limit that is stricter already stays, and is lived with")
    func stricter() async throws {
        let folder = try TemporaryFolder()
        let program = Built.program("mezzotint-renderer").path
        let pool = RendererPool(
            RendererConfiguration(
                program: try folder.program(
                    "#!/bin/sh\nulimit -d 300000\nulimit -n 20\nulimit -f 9000\nexec '\(program)' \"$@\""),
                inspector: Built.program("mezzotint-inspector").path, count: 1))
        try await pool.ready()
        let limits = try String(contentsOfFile: "/proc/\(pool.processes[0].pid)/limits", encoding: .utf8)
        #expect(limits.contains("Max data size             307200000"))
        let small = try Workshop.file(Pixels.map(width: 60, height: 40).png)
        #expect(try await Workshop.make("30x20.webp", of: small, in: pool).size.width == 30)
        await pool.stop()
    }

    /// What a child writes lies in memory that no limit but this one counts.
    @Test("More than a renderer may write is refused as an output, and costs no child")
    func written() async throws {
        let folder = try TemporaryFolder()
        let program = Built.program("mezzotint-renderer").path
        var configuration = RendererConfiguration(
            program: try folder.program("#!/bin/sh\nulimit -f 1000\nexec '\(program)' \"$@\""),
            inspector: Built.program("mezzotint-inspector").path, count: 1)
        configuration.isolation = .none
        let pool = RendererPool(configuration)
        try await pool.ready()
        let process = pool.processes[0]
        let file = try Workshop.file(Pixels.photograph(width: 1_200, height: 900, seed: 3).png)
        let size = try await pool.inspect(file).facts.size
        let orders = try ["20x20.webp", "full.png"].map { try Workshop.order($0, of: size) }
        let failure = await #expect(throws: RenderFailure.self) {
            try await Workshop.render(file, in: pool) { _ in orders }
        }
        #expect(failure?.code == "render.output")
        #expect(failure?.description.contains("could not be written: with those before it") == true)
        #expect(try await Workshop.make("20x20.webp", of: file, in: pool).size.width == 20)
        #expect(pool.processes.map(\.pid) == [process.pid] && pool.losses == 0)
        await pool.stop()
    }

    /// 12 Mpx: 36 MB of coefficients, 36 MB of pixels, and the encoder's 36 MB of coefficients. 140 MiB are enough; seen to
    /// fail with the decoder kept.
    @Test("A progressive JPEG's coefficients are given back before the encoder needs as many")
    func coefficients() async throws {
        var configuration = Workshop.configuration(count: 1)
        configuration.isProgressive = true
        let pool = RendererPool(configuration)
        let made = try await Workshop.make(
            "full.jpg", of: try Workshop.file(Sources.blackPNG(width: 4_000, height: 3_000)), in: pool)
        await pool.stop()
        let tight = Self.pool(mebibytes: 150)
        #expect(
            try await Workshop.make("full.jpg", of: try Workshop.file(try made.content.bytes()), in: tight).size.width
                == 4_000)
        await tight.stop()
    }

    /// 40 frames of 500 × 500: 40 MB decoded, and 39 for each output, of which all four were held. 140 MiB are enough; seen to
    /// fail with all outputs at once.
    @Test("Outputs that move are made one at a time, within what is estimated for them")
    func moving() async throws {
        let source = try Workshop.file(
            Sources.flatGIF(side: 500, frames: [(width: Int, height: Int)](repeating: (500, 500), count: 40)))
        let pool = Self.pool(mebibytes: 180)
        try await pool.ready()
        let idle = try #require(pool.processes[0].memory).now
        let facts = try await pool.inspect(source).facts
        let orders = try (0..<4).map { try Workshop.order("\(490 - $0)x0.webp", of: facts.size) }
        let made = try await Workshop.render(source, in: pool) { _ in orders }
        #expect(made.map(\.rendition.frames) == [40, 40, 40, 40])
        var request = RenderRequest(
            facts: facts, isReuse: false, deadlineMilliseconds: 0,
            outputs: orders.map {
                RenderOutput(format: .webp, quality: 80, effort: 2, size: $0.output, crop: $0.crop)
            })
        for index in request.outputs.indices { request.outputs[index].isAnimated = true }
        #expect(pool.peakMemoryBytes - idle < request.memoryEstimate)
        await pool.stop()
    }
}
