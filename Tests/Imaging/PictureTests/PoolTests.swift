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

@Suite("The pool: a child costs its own render, and nothing else", .timeLimit(.minutes(2)))
struct PoolTests {
    private let source = Pixels.photograph(width: 64, height: 48, seed: 4).png
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }
    private static let inspector = Built.program("mezzotint-inspector").path

    @Test("A missing program is told with its path, at the start and for each render")
    func missing() async throws {
        let pool = RendererPool(
            RendererConfiguration(program: "/nowhere/mezzotint-renderer", inspector: Self.inspector, count: 1))
        await expect(pool, "render.unavailable", "/nowhere/mezzotint-renderer", "set render.program")
        await #expect { try await pool.ready() } throws: { "\($0)".contains("/nowhere/mezzotint-renderer") }
        await pool.stop()
    }

    @Test(
        "A program that is no renderer is told as such",
        arguments: [
            (script: "exit 3", says: "exit status 3"), ("printf nonsense >&3; /bin/sleep 100", "another version"),
            ("exec /bin/sleep 100", "did not get ready"),
        ])
    func noRenderer(script: String, says: String) async throws {
        var configuration = RendererConfiguration(
            program: try folder.program("#!/bin/sh\n\(script)"), inspector: Self.inspector, count: 1)
        configuration.startLimit = 300
        let pool = RendererPool(configuration)
        await expect(pool, "render.unavailable", says)
        await pool.stop()
    }

    /// Seen to fail: libvips handed work to a thread whose idle time was just over. The thread ended, and the renderer never
    /// got ready.
    @Test("Renderers that start side by side all begin, however long each waits for a processor")
    func crowd() async throws {
        let configuration = Workshop.configuration(count: 1)
        try await withThrowingTaskGroup { group in
            for _ in 0..<24 {
                group.addTask {
                    let pool = RendererPool(configuration)
                    do { try await pool.ready() } catch {
                        await pool.stop()
                        throw error
                    }
                    await pool.stop()
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "A child that hangs is ended at the deadline, and its seat taken anew",
        .enabled(if: Python.isHere, Comment(rawValue: Python.absent)))
    func hanging() async throws {
        var configuration = try fake("exec /bin/sleep 100")
        configuration.deadline = 200
        let pool = RendererPool(configuration)
        try await pool.ready()
        let first = pool.processes
        await expect(pool, "render.deadline", "200 ms")
        try await pool.ready()
        #expect(pool.processes.map(\.pid) != first.map(\.pid))
        #expect(first.allSatisfy { $0.memory == nil })
        await expect(pool, "render.deadline")
        #expect(pool.losses == 2)
        await pool.stop()
    }

    /// It must not speak while nobody asks, or it is taken for one that is gone.
    @Test(
        "A child that answers without reading is ended at the deadline, once its socket is full of requests",
        .enabled(if: Python.isHere, Comment(rawValue: Python.absent)))
    func deaf() async throws {
        let reply = Self.printed(.failed(.source(reason: "no")))
        var configuration = try fake("while :; do /bin/sleep 0.2; \(reply); done")
        configuration.deadline = 2_000
        let pool = RendererPool(configuration)
        let picture = try await pool.inspect(try Workshop.file(source))
        let orders = (1...64).map { Workshop.order($0, $0, .webp, of: picture.facts.size) }
        var code: String?
        repeat {
            code = await self.code { try await pool.render(picture, orders, isReuse: false) }
        } while code == "render.malformed"
        #expect(code == "render.deadline")
        await pool.stop()
    }

    @Test(
        "A child that dies or talks nonsense in a render is told as crashed",
        .enabled(if: Python.isHere, Comment(rawValue: Python.absent)),
        arguments: [
            (script: "kill -SEGV $$", says: "signal 11"), ("exit 9", "exit status 9"),
            ("printf nonsense >&3; /bin/sleep 100", "out of protocol"),
            (rendered(width: 9, height: 9, bytes: 1), "does not match the request"),
            (rendered(width: 8, height: 8, bytes: 1 << 40), "does not match the request"),
            (printed(RenderReply.failed(.output(7, reason: ""))), "not asked"), (printed(.ready), "out of turn"),
        ])
    func dying(script: String, says: String) async throws {
        let pool = RendererPool(try fake("/bin/dd bs=65536 count=1 <&3 >/dev/null 2>&1\n\(script)"))
        await expect(pool, "render.crashed", says)
        #expect(pool.losses == 1)
        await pool.stop()
    }

    /// A child that could change a picture after it was looked at would decide what is stored.
    @Test(
        "A child that keeps its pictures mapped to change them is not trusted any further",
        .enabled(if: Python.isHere, Comment(rawValue: Python.absent)))
    func unsealed() async throws {
        let content = try await Workshop.make("8y8.webp", of: Workshop.file(source)).content
        let answer = RenderReply.rendered([
            RenderedOutput(size: PixelSize(width: 8, height: 8), bytes: content.length, hasAlpha: false)
        ])
        for (mapping, code) in [("", nil), ("held = mmap.mmap(files[1], 10)", "render.crashed")] as [(String, String?)]
        {
            let program = try folder.parent(
                of: """
                    #!/usr/bin/python3 -S
                    import mmap, os, socket
                    worker = socket.socket(fileno=3)
                    files = socket.recv_fds(worker, 65536, 8)[1]
                    os.write(files[1], bytes(\(try content.bytes())))
                    \(mapping)
                    worker.send(bytes(\(answer.message)))
                    worker.recv(1)
                    """)
            let pool = RendererPool(RendererConfiguration(program: program, inspector: Self.inspector, count: 1))
            #expect(await self.code { try await render(in: pool) } == code)
            #expect(pool.losses == (code == nil ? 0 : 1))
            await pool.stop()
        }
    }

    @Test(
        "Where no filter can be had a child is refused, or goes on and that is told, as the configuration says",
        .enabled(if: Python.isHere, Comment(rawValue: Python.absent)))
    func unfiltered() async throws {
        let program = try folder.programWithoutFilters(Built.program("mezzotint-renderer").path)
        var configuration = RendererConfiguration(program: program, inspector: Self.inspector, count: 1)
        let strict = RendererPool(configuration)
        await expect(
            strict, "render.unavailable", "no filter for system calls (filter system calls: ",
            "set render.sandbox to optional")
        #expect(strict.processes.isEmpty)
        await strict.stop()
        configuration.isSandboxOptional = true
        let lenient = RendererPool(configuration)
        #expect(await code { try await render(in: lenient) } == nil)
        #expect(lenient.unfiltered?.hasPrefix("filter system calls: ") == true)
        await lenient.stop()
        configuration.program = Built.program("mezzotint-renderer").path
        let well = RendererPool(configuration)
        #expect(await code { try await render(in: well) } == nil)
        #expect(well.unfiltered == nil)
        await well.stop()
    }

    @Test(
        "A signal in the middle of a render costs that one, and is told; those that wait are rendered",
        arguments: [SIGKILL, SIGSEGV])
    func killed(signal: Int32) async throws {
        let pool = RendererPool(Workshop.configuration(count: 1))
        try await pool.ready()
        let process = try #require(pool.processes.first)
        let idle = try #require(process.cpuTime)
        let large = try Workshop.file(Pixels.photograph(width: 1_500, height: 1_000, seed: 9).png)
        async let lost = failure {
            try await Workshop.render(large, in: pool) { facts in
                (0..<20).map { Workshop.order(1_490 - $0, 990, .webp, of: facts.size) }
            }
        }
        // Some hundredths of a second of work show that it has begun; the whole takes many seconds.
        while let now = process.cpuTime, now < idle + .milliseconds(50) { await Task.yield() }
        async let waiting = code {
            try await Workshop.render(try Workshop.file(source), in: pool) {
                [Workshop.order(8, 8, .webp, of: $0.size)]
            }
        }
        kill(process.pid, signal)
        let told = await lost
        #expect(told?.code == "render.crashed" && told?.description.contains("signal \(signal)") == true)
        #expect(await waiting == nil)
        #expect(pool.losses == 1)
        await pool.stop()
    }

    @Test("Children make way for fresh ones after so many jobs, and nothing is lost by it")
    func recycled() async throws {
        var configuration = Workshop.configuration(count: 1)
        (configuration.isolation, configuration.recycleRenders) = (.none, 2)
        let pool = RendererPool(configuration)
        var pids: [Int32] = []
        for _ in 0..<4 {
            try await pool.ready()
            pids += pool.processes.map(\.pid)
            #expect(await code { try await render(in: pool) } == nil)
        }
        #expect(pids.count == 4 && Set(pids).count == 2)
        #expect(pool.losses == 0)
        #expect(pool.peakMemoryBytes > 10 << 20)
        await pool.stop()
    }

    /// Seen to fail: each of five attempts had a renderer of its own, and fetched the source again. Then each had two renderers.
    @Test(
        "A picture over which a library aborts a fresh renderer fails; what ends it in another way may be tried again",
        .enabled(if: Python.isHere, Comment(rawValue: Python.absent)))
    func aborted() async throws {
        let pool = RendererPool(try fake("/bin/dd bs=65536 count=1 <&3 >/dev/null 2>&1; kill -ABRT $$"))
        await expect(pool, "render.aborted", "fresh", "png")
        #expect(pool.losses == 1)
        await pool.stop()
        let other = RendererPool(try fake("/bin/dd bs=65536 count=1 <&3 >/dev/null 2>&1; kill -SEGV $$"))
        await expect(other, "render.crashed")
        #expect(other.losses == 1)
        await other.stop()
    }

    @Test(
        "An abort of a renderer that had other images before is not blamed on this image: a fresh renderer decides",
        .enabled(if: Python.isHere, Comment(rawValue: Python.absent)))
    func abortedLater() async throws {
        let (taken, reply) = (
            "/bin/dd bs=65536 count=1 <&3 >/dev/null 2>&1", Self.printed(.failed(.source(reason: "its end is missing")))
        )
        let pool = RendererPool(try fake("\(taken); \(reply); \(taken); kill -ABRT $$"))
        for losses in 0...1 {
            await expect(pool, "render.malformed", "its end is missing")
            #expect(pool.losses == losses)
        }
        await pool.stop()
    }

    /// Seen to fail as well: librsvg 2.54 panics over a tile of nothing.
    @Test("An SVG over which its library aborts gets no other attempt, and costs one renderer")
    func abortingSVG() async throws {
        var configuration = Workshop.configuration(count: 1)
        configuration.limits.formats = Set(ImageFormat.allCases)
        let pool = RendererPool(configuration)
        let svg = """
            <svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 200 200'><filter id='f'>
            <feFlood x='40' y='40' width='0' height='40' flood-color='green'/><feTile/></filter>
            <rect filter='url(#f)' x='20' y='20' width='160' height='160'/></svg>
            """
        let failure = await failure {
            try await Workshop.make("20x20.png", of: try Workshop.file(Array(svg.utf8)), in: pool)
        }
        #expect(failure == .aborted(.svg) && failure?.verdict == .fail && pool.losses == 1)
        await pool.stop()
    }

    @Test("Stopping ends every child; what comes after is refused")
    func stopped() async throws {
        let pool = RendererPool(Workshop.configuration(count: 2))
        try await pool.ready()
        let processes = pool.processes
        await pool.stop()
        #expect(!processes.isEmpty && processes.allSatisfy { $0.memory == nil })
        await expect(pool, "render.unavailable", "stopping")
        await pool.stop()
    }

    @Test("A child has no environment of ours, no open file but its own, and its limits")
    func confined() async throws {
        var configuration = Workshop.configuration(count: 1)
        configuration.deadline = 10_000
        let pool = RendererPool(configuration)
        try await pool.ready()
        let process = "/proc/\(try #require(pool.processes.first).pid)"
        // Before its first render, whose files a child closes only after it has answered.
        #expect(
            Set(try FileManager.default.contentsOfDirectory(atPath: "\(process)/fd")).isSubset(of: [
                "0", "1", "2", "3", "4",
            ])
        )
        func text(_ name: String) throws -> String { try String(contentsOfFile: "\(process)/\(name)", encoding: .utf8) }
        #expect(try text("environ") == "OMP_NUM_THREADS=1\0LD_BIND_NOW=1\0")
        #expect(try text("status").contains("NoNewPrivs:\t1"))
        // 2: a filter for system calls.
        #expect(try text("status").contains("Seccomp:\t2"))
        func limit(_ name: String) throws -> [String] {
            let limits = try text("limits").split(separator: "\n").map {
                $0.split(separator: "  ", omittingEmptySubsequences: true).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
            }
            return limits.first { $0[0] == name }.map { Array($0.dropFirst().prefix(2)) } ?? []
        }
        // Its own limits of time and threads, lower than its parent's, which it sets before it reads what it is asked.
        try await eventually { try limit("Max cpu time") == ["72", "72"] && limit("Max processes") == ["48", "48"] }
        #expect(try limit("Max data size") == ["536870912", "536870912"])
        #expect(try limit("Max address space").allSatisfy { ((1 << 30)...(4 << 30)).contains(Int($0) ?? 0) })
        #expect(try limit("Max file size") == ["536870912", "536870912"])
        #expect(try limit("Max core file size") == ["0", "0"])
        #expect(try limit("Max open files") == ["32", "32"])
        await pool.stop()
    }

    @Test("A child whose worker is gone ends by itself")
    func orphan() throws {
        var ends: (PacketSocket, PacketSocket)? = try PacketSocket.pair()
        let child = try ChildProcess(
            program: Built.program("mezzotint-renderer").path, arguments: ["parent"], socket: try #require(ends).1)
        #expect(try ends?.0.receive(limit: 100)?.bytes == RenderReply.ready.message)
        ends = nil
        #expect(child.reap() == .status(0))
    }

    @Test(
        "An order that no encoder can carry out is refused before it reaches a child",
        arguments: [
            (width: 16_384, height: 10, format: ImageFormat.webp, says: "16383"), (65_501, 10, .jpeg, "65500"),
            (10, 16_384, .avif, "16383"), (65_536, 10, .gif, "65535"),
            (20_000, 20_000, .png, "limit of 268435456"),
            (10, 10, .heic, "is not written"), (0, 10, .png, "show nothing"),
        ])
    func refused(width: Int, height: Int, format: ImageFormat, says: String) async throws {
        await #expect {
            try await Workshop.render(try Workshop.file(source)) {
                [Workshop.order(width, height, format, of: $0.size)]
            }
        } throws: { ($0 as? RenderFailure)?.code == "render.output" && "\($0)".contains(says) }
    }

    /// A pool of one whose renderers are played by a shell script.
    private func fake(_ script: String) throws -> RendererConfiguration {
        var configuration = RendererConfiguration(
            program: try folder.parent(of: "#!/bin/sh\n\(script)"), inspector: Self.inspector, count: 1)
        configuration.isolation = .none
        return configuration
    }

    /// A line of shell that sends a reply.
    private static func printed(_ reply: RenderReply) -> String {
        "printf '" + reply.message.map { "\\" + String($0, radix: 8).leftPadded(to: 3) }.joined() + "' >&3"
    }

    private static func rendered(width: Int, height: Int, bytes: Int) -> String {
        printed(
            .rendered([RenderedOutput(size: PixelSize(width: width, height: height), bytes: bytes, hasAlpha: false)]))
    }

    private func render(in pool: RendererPool) async throws {
        _ = try await Workshop.render(try Workshop.file(source), in: pool) {
            [Workshop.order(8, 8, .webp, of: $0.size)]
        }
    }

    /// nil where there was none.
    private func failure<R>(_ body: () async throws -> R) async -> RenderFailure? {
        do {
            _ = try await body()
            return nil
        } catch { return error as? RenderFailure ?? .unreadable(reason: "\(error)") }
    }

    private func code<R>(_ body: () async throws -> R) async -> String? { await failure(body)?.code }

    private func expect(
        _ pool: RendererPool, _ code: String, _ says: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await #expect(sourceLocation: sourceLocation) { try await render(in: pool) } throws: { error in
            (error as? RenderFailure)?.code == code && says.allSatisfy { "\(error)".contains($0) }
        }
    }
}

extension String {
    fileprivate func leftPadded(to width: Int) -> String { String(repeating: "0", count: max(0, width - count)) + self }
}
