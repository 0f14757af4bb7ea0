internal import CommandLine
internal import Glibc
internal import ImageHeaders
internal import Posix
internal import RenderProtocol
internal import Seccomp

/// The inspector program: started by the pool with a socket, it reads the headers of pictures in the strictest sandbox.
/// It has one thread, no image codec, and nothing but memory and the socket.
struct InspectorCommand {
    let words: [String]
    private static let program = ChildProgram(
        "mezzotint-inspector", does: "Read the headers of images for mezzotint-worker")
    private static let dataBytes = 64 << 20
    private static let cpuSeconds = 3_600
    private static let files = 16

    func run() -> Never {
        switch words.first {
        case "serve" where PacketSocket.isSocket(ChildProgram.socket): serve()
        case "check" where words == ["check", "calls"]:
            CallCheck.run(socket: ChildProgram.socket, confine: Self.confine)
        default: Self.program.explain(words)
        }
    }

    private func serve() -> Never {
        do throws(SystemFailure) {
            Sandbox.useOneArena()
            try InspectorService.warm()
            let mapped = ProcessMemory.mapped
            _ = Sandbox.enterLayers(first: nil)
            try Self.limit(mapped)
            var greeting = RenderReply.ready
            do throws(SystemFailure) { try SystemCallFilter.load(for: .inspector) } catch {
                greeting = .readyUnfiltered(reason: error.description)
            }
            try InspectorService(socket: PacketSocket(taking: ChildProgram.socket)).run(greeting)
            _exit(0)
        } catch {
            Console.complain("mezzotint-inspector: \(error)")
            _exit(1)
        }
    }

    private static func limit(_ mapped: Int?) throws(SystemFailure) {
        try Sandbox.limit(dataBytes: dataBytes, cpuSeconds: cpuSeconds, files: files, fileBytes: 0, mapped: mapped)
    }

    private static func confine() throws(SystemFailure) {
        try limit(ProcessMemory.mapped)
        try SystemCallFilter.load(for: .inspector)
    }
}
