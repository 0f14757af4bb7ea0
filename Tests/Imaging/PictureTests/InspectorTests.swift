import Clocks
internal import Failures
internal import Foundation
internal import Images
internal import Ports
internal import Posix
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

@testable internal import RenderProtocol
@testable internal import RendererPool

@Suite("Inspectors: a picture's header is read outside the worker", .timeLimit(.minutes(2)))
struct InspectorTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }
    private let source = Pixels.photograph(width: 64, height: 48, seed: 4).png

    private func pool(_ script: String? = nil, limit: Duration = .seconds(5)) throws -> RendererPool {
        let program = try script.map { try folder.program($0) } ?? Built.program("mezzotint-inspector").path
        var configuration = RendererConfiguration(
            program: Built.program("mezzotint-renderer").path, inspector: program, count: 1)
        configuration.inspectionLimit = limit
        return RendererPool(configuration)
    }

    private func failure(_ pool: RendererPool) async throws -> RenderFailure? {
        let file = try Workshop.file(source)
        do throws(RenderFailure) { _ = try await pool.inspect(file) } catch { return error }
        return nil
    }

    @Test("The descriptor that was inspected is the one that is rendered, sealed")
    func descriptor() async throws {
        let file = try Workshop.file(source)
        let picture = try await Workshop.pool.inspect(file)
        #expect(picture.file === file)
        #expect(throws: SystemFailure.self) { try file.append([0]) }
        #expect(picture.facts.size == PixelSize(width: 64, height: 48) && picture.facts.format == .png)
    }

    @Test("It has one thread, no codec, no environment of ours, its limits, and nothing open but a socket and its log")
    func confined() async throws {
        let pool = try pool()
        try await pool.ready()
        _ = try await failure(pool)
        let process = "/proc/\(try #require(pool.inspectorProcesses.first).pid)"
        func text(_ name: String) throws -> String { try String(contentsOfFile: "\(process)/\(name)", encoding: .utf8) }
        #expect(
            Set(try FileManager.default.contentsOfDirectory(atPath: "\(process)/fd")).isSubset(of: ["0", "1", "2", "3"])
        )
        let status = try text("status")
        for line in ["Threads:\t1\n", "NoNewPrivs:\t1\n", "Seccomp:\t2\n"] {
            #expect(status.contains(line), "\(status)")
        }
        let maps = try text("maps")
        for library in ["vips", "jpeg", "webp", "heif", "aom", "png", "glib"] {
            #expect(!maps.contains("lib\(library)"))
        }
        #expect(try text("environ") == "OMP_NUM_THREADS=1\0LD_BIND_NOW=1\0")
        await pool.stop()
    }

    @Test(
        "One that dies over a picture, hangs or lies costs that picture alone: an outcome, and no retry",
        .enabled(if: Python.isHere, Comment(rawValue: Python.absent)),
        arguments: [
            ("os.kill(os.getpid(), 11)", "signal 11"), ("os._exit(9)", "exit status 9"), ("time.sleep(100)", "200 ms"),
            ("worker.send(b'nonsense'); time.sleep(100)", "out of protocol"),
            ("worker.send(bytes(\(InspectionReply([]).message))); time.sleep(100)", "out of protocol"),
            ("worker.send(bytes(\(lie.message))); time.sleep(100)", "out of protocol"),
        ])
    func hostile(act: String, says: String) async throws {
        let pool = try pool(
            """
            #!/usr/bin/python3 -S
            import os, socket, time
            worker = socket.socket(fileno=3)
            worker.send(bytes(\(RenderReply.ready.message)))
            message, files = socket.recv_fds(worker, 65536, 8)[:2]
            \(act)
            """, limit: 200)
        let told = try await failure(pool)
        #expect(told?.code == "render.uninspected" && told?.verdict == .fail)
        #expect(told?.description.contains(says) == true, "\(told.map { "\($0)" } ?? "")")
        #expect(pool.losses == 2)
        await pool.stop()
    }

    /// Of more pixels than the request allows.
    private static let lie = InspectionReply([
        .success(
            InspectedPicture(
                facts: PictureFacts(
                    format: .png, size: PixelSize(width: 60_000, height: 60_000), orientation: 1, frames: 1,
                    hasAlpha: false)))
    ])

    @Test("After one that is killed the next picture is inspected at once, by the spare")
    func spare() async throws {
        let pool = try pool()
        try await pool.ready()
        for _ in 0..<5 {
            while pool.inspectorProcesses.count < pool.configuration.inspectors + 1 { await Task.yield() }
            let all = pool.inspectorProcesses
            for process in all.dropLast() { process.kill() }
            let start = SystemTime.monotonic
            #expect(try await failure(pool) == nil)
            // Milliseconds where nothing else runs: starting one takes longer.
            #expect(SystemTime.monotonic - start < .seconds(1))
        }
        let all = pool.inspectorProcesses
        await pool.stop()
        #expect(!all.isEmpty && all.allSatisfy { $0.memory == nil })
    }

    @Test("A program that is none is told with its path, and jobs wait for a better one")
    func missing() async throws {
        let pool = RendererPool(
            RendererConfiguration(
                program: Built.program("mezzotint-renderer").path, inspector: "/nowhere/mezzotint-inspector", count: 1))
        let told = try await failure(pool)
        #expect(
            told?.code == "render.unavailable" && told?.description.contains("/nowhere/mezzotint-inspector") == true)
        await pool.stop()
    }
}
