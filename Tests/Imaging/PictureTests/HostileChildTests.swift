internal import Failures
internal import Foundation
internal import ImageModel
internal import Images
internal import Ports
internal import Posix
internal import Synchronization
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

@testable internal import RenderProtocol
@testable internal import RendererPool

/// Renderers that a picture took over: played by a program in Python that answers as it likes.
@Suite(
    "Hostile children: what they say and make is looked at", .timeLimit(.minutes(2)),
    .enabled(if: Python.isHere, Comment(rawValue: Python.absent)))
struct HostileChildTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }
    private let source = Pixels.photograph(width: 64, height: 48, seed: 4).png

    /// A reply and the bytes beside it, which say of themselves what the reply says or something else.
    @Test(
        "An output is stored only if it is the picture that was asked, and nothing else",
        arguments: [
            ("the picture", nil), ("a page", "is not an image in a supported format"),
            ("another format", "not the webp"),
            ("another size", "not the webp of 8×8"), ("a page behind it", "9 bytes lie behind its end"),
            ("cut short", "has no end"), ("far too many bytes", "does not match the request"),
        ] as [(String, String?)])
    func outputs(what: String, says: String?) async throws {
        let picture = try await Workshop.make(
            "8x8.webp", of: Workshop.file(Pixels.photograph(width: 8, height: 8, seed: 1).png))
        let bytes = try picture.content.bytes()
        let made: [UInt8] =
            switch what {
            case "a page": Array("<html><script>alert(1)</script></html>".utf8)
            case "another format": Pixels.photograph(width: 8, height: 8, seed: 1).png
            case "another size":
                try await Workshop.make(
                    "9x9.webp", of: Workshop.file(Pixels.photograph(width: 9, height: 9, seed: 1).png)
                )
                .content.bytes()
            case "a page behind it": bytes + Array("<script>!".utf8)
            case "cut short": Array(bytes.dropLast(10))
            case "far too many bytes": bytes + [UInt8](repeating: 0, count: 1 << 20)
            default: bytes
            }
        let reply = RenderReply.rendered([
            RenderedOutput(size: PixelSize(width: 8, height: 8), bytes: made.count, hasAlpha: false)
        ])
        let (failure, losses, _) = try await render(by: reply, writing: made)
        #expect(failure?.code == says.map { _ in "render.crashed" }, "\(what): \(failure.map { "\($0)" } ?? "")")
        if let says {
            #expect(failure?.description.contains(says) == true, "\(what): \(failure.map { "\($0)" } ?? "")")
        }
        #expect(losses == (says == nil ? 0 : 1))
    }

    @Test(
        "What a child says of this machine, and is not so, costs its job an attempt and halts nobody",
        arguments: [
            EngineFailure.noSpace(reason: "write anonymous file: No space left on device"),
            .protocolMismatch(reason: "the request has version 1"),
        ])
    func machine(failure: EngineFailure) async throws {
        let told = try await render(by: .failed(failure))
        #expect(told.failure?.code == "render.crashed")
        #expect(told.failure?.verdict == .retry)
        #expect(told.losses == 1)
    }

    @Test("A reason is cut, and has nothing in it that a terminal obeys")
    func reasons() async throws {
        let reason = "\u{1b}[2J\u{202e}\n" + String(repeating: "x", count: 60_000)
        var fields = FieldWriter()
        fields.add(Wire.Tag.version, Wire.version)
        fields.add(Wire.Tag.kind, "source")
        fields.add(Wire.Tag.reason, reason)
        let told = try await render(sending: fields.bytes).failure
        let text = try #require(told?.description)
        #expect(text.count < 600 && text.contains("\\u{1b}[2J\\u{202e}\\u{a}xxx"), "\(text.prefix(200))")
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x1b })
    }

    @Test(
        "What a child writes on its standard error is told in few lines with its name, and never on ours; it has no other"
    )
    func lines() async throws {
        let lines = Mutex<[String]>([])
        let (_, _, descriptors) = try await render(
            by: .failed(.source(reason: "")),
            before: "os.write(2, b'\\x1b[2J {\"level\":\"info\"}\\n' + b'y' * 5000 + b'\\n' + b'z\\n' * 9000)"
        ) { line in lines.withLock { $0.append(line) } }
        let told = lines.withLock { $0 }
        #expect(told.first == "renderer 0: \\u{1b}[2J {\"level\":\"info\"}")
        #expect((2...20).contains(told.count) && told.allSatisfy { $0.count < 350 && $0.hasPrefix("renderer 0: ") })
        #expect(descriptors.prefix(2) == ["/dev/null", "/dev/null"] && descriptors[2].hasPrefix("pipe:"))
    }

    /// The failure, what was lost, and what the child's descriptors 0 to 2 are.
    private func render(
        by reply: RenderReply = .ready, sending message: [UInt8]? = nil, writing bytes: [UInt8] = [],
        before: String = "",
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> (failure: RenderFailure?, losses: Int, descriptors: [String]) {
        let (output, answer) = (folder.file("output"), folder.file("answer"))
        try Data(bytes).write(to: URL(filePath: output))
        try Data(message ?? reply.message).write(to: URL(filePath: answer))
        let program = try folder.parent(
            of: """
                #!/usr/bin/python3 -S
                import os, socket
                worker = socket.socket(fileno=3)
                files = socket.recv_fds(worker, 65536, 8)[1]
                \(before.isEmpty ? "pass" : before)
                os.write(files[1], open('\(output)', 'rb').read())
                worker.send(open('\(answer)', 'rb').read())
                worker.recv(1)
                """)
        let configuration = RendererConfiguration(
            program: program, inspector: Built.program("mezzotint-inspector").path, count: 1)
        let pool = RendererPool(configuration, log: log)
        try await pool.ready()
        let process = try #require(pool.processes.first)
        let descriptors = try (0..<3).map {
            try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process.pid)/fd/\($0)")
        }
        let file = try Workshop.file(source)
        var failure: RenderFailure?
        do throws(RenderFailure) {
            let picture = try await pool.inspect(file)
            _ = try await pool.render(
                picture, [Workshop.order(8, 8, .webp, of: picture.facts.size)], isReuse: false)
        } catch { failure = error }
        let losses = pool.losses
        await pool.stop()
        return (failure, losses, descriptors)
    }
}
