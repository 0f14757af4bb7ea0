import Failures
internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

@testable internal import RenderProtocol
@testable internal import RendererPool

/// Renderers' parents that fail: played by a program in Python, whose children answer a render once the file `go` exists.
@Suite(
    "Failing parents: renders at work go on, and the next ones wait for the machine", .timeLimit(.minutes(2)),
    .enabled(if: Python.isHere, Comment(rawValue: Python.absent)))
struct ParentFaultTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }
    private let source = Pixels.photograph(width: 64, height: 48, seed: 4).png

    /// - Parameter second: what the first parent does instead of its second fork, in Python.
    private func pool(second: String) throws -> RendererPool {
        let program = try folder.parent(
            of: """
                #!/usr/bin/python3 -S
                import os, socket, time
                worker = socket.socket(fileno=3)
                while (message := socket.recv_fds(worker, 65536, 8))[0]:
                    open('\(folder.file("asked"))', 'w').close()
                    while not os.path.exists('\(folder.file("go"))'): time.sleep(0.01)
                    worker.send(bytes(\(RenderReply.failed(.output(0, reason: "made")).message)))
                    for file in message[1]: os.close(file)
                """, second: second)
        var configuration = RendererConfiguration(
            program: program, inspector: Built.program("mezzotint-inspector").path, count: 2)
        configuration.isolation = .origin
        return RendererPool(configuration)
    }

    private var starts: Int { (try? Data(contentsOf: URL(filePath: folder.file("starts"))).count) ?? 0 }

    private func code(_ origin: String, _ pool: RendererPool) async -> String? {
        do throws(RenderFailure) {
            let picture = try await pool.inspect(try! Workshop.file(source))
            let orders = [Workshop.order(8, 8, .webp, of: picture.facts.size)]
            _ = try await pool.render(picture, orders, isReuse: false, origin: origin)
            return nil
        } catch { return error.code }
    }

    /// By reading: a failed fork of a spare ended the parent, and with it up to four renders.
    @Test("A fork that the machine refuses ends no render at work, and the next render waits")
    func refused() async throws {
        let pool = try pool(second: "worker.send(reply(b'failed', 11))")
        try await pool.ready()
        async let first = code("a", pool)
        while !FileManager.default.fileExists(atPath: folder.file("asked")) { await Task.yield() }
        #expect(await code("b", pool) == "render.unavailable")
        let parent = try #require(pool.parents.first?.pid)
        try Data().write(to: URL(filePath: folder.file("go")))
        #expect(await first == "render.output")
        #expect(pool.parents.first?.pid == parent && pool.losses == 0 && starts == 1)
        // With nobody at work a parent that makes no child is replaced.
        #expect(await code("b", pool) == "render.output")
        #expect(pool.losses == 0)
        await pool.stop()
    }

    /// By reading: the late answer was taken for that of the next request, and the wrong process was killed.
    @Test("A parent that gives no answer is asked nothing more; its renders at work go on")
    func silent() async throws {
        let pool = try pool(second: "if forks == 2: time.sleep(6); worker.send(reply(b'forked', os.getpid()))")
        try await pool.ready()
        async let first = code("a", pool)
        while !FileManager.default.fileExists(atPath: folder.file("asked")) { await Task.yield() }
        async let second = code("b", pool)
        while starts < 2 { try await Task.sleep(for: .milliseconds(5)) }
        try Data().write(to: URL(filePath: folder.file("go")))
        #expect(await first == "render.output")
        #expect(await second == "render.output")
        #expect(pool.losses == 0)
        await pool.stop()
    }

    /// By reading: each of four slots waited for a start of its own, one after the other.
    @Test("Renders that wait for the same start share its failure")
    func shared() async throws {
        let program = try folder.program("#!/bin/sh\nprintf x >>\(folder.file("starts"))\n/bin/sleep 0.5\nexit 1")
        var configuration = RendererConfiguration(
            program: program, inspector: Built.program("mezzotint-inspector").path, count: 4)
        configuration.isolation = .origin
        let pool = RendererPool(configuration)
        let codes = await withTaskGroup(of: String?.self) { group in
            for origin in 0..<4 { group.addTask { await code("\(origin)", pool) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == Array(repeating: "render.unavailable", count: 4))
        #expect((1...2).contains(starts))
        await pool.stop()
    }

    /// By reading: the file of a failed render was never sealed, and a child could fill it while it waited.
    @Test("A child cannot write into the file of a render that it has answered")
    func sealed() async throws {
        func failed(_ reason: String) -> String { "bytes(\(RenderReply.failed(.source(reason: reason)).message))" }
        let program = try folder.parent(
            of: """
                #!/usr/bin/python3 -S
                import os, socket
                worker = socket.socket(fileno=3)
                held = socket.recv_fds(worker, 65536, 8)[1][1]
                os.write(held, b'x' * 4096)
                worker.send(\(failed("first")))
                socket.recv_fds(worker, 65536, 8)
                try:
                    os.write(held, b'x')
                    worker.send(\(failed("written")))
                except PermissionError:
                    worker.send(\(failed("refused")) if os.fstat(held).st_size == 0 else \(failed("kept")))
                worker.recv(1)
                """)
        var configuration = RendererConfiguration(
            program: program, inspector: Built.program("mezzotint-inspector").path, count: 1)
        configuration.isolation = .none
        let pool = RendererPool(configuration)
        let picture = try await pool.inspect(try Workshop.file(source))
        let orders = [Workshop.order(8, 8, .webp, of: picture.facts.size)]
        for reason in ["first", "refused"] {
            let failure = await #expect(throws: RenderFailure.self) {
                try await pool.render(picture, orders, isReuse: false)
            }
            #expect(failure?.description.contains(reason) == true, "\(failure.map { "\($0)" } ?? "")")
        }
        await pool.stop()
    }
}
