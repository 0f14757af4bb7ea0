internal import CommandLine
internal import Foundation
internal import Posix
internal import RenderProtocol
internal import TestSupport

/// A process between a worker and its real renderers, which damages every reply to a render.
///
/// It does not parse messages: messages and open files pass through.
enum StandIn {
    private static let most = 1 << 20
    /// File in the worker's folder with a byte for each damaged message.
    static let tally = "replies"

    /// Replaces a parent of renderers: each of its children precedes a child of the real parent, so that a
    /// damaged reply does not restart that one.
    static func run(_ words: [String]) -> Never {
        let worker = PacketSocket(taking: ChildProgram.socket)
        let tally = open(tally, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        do {
            let parent = try realParent(words)
            guard ForkServer.threads == 1, let ready = try parent.receive(limit: most) else { exit(1) }
            try worker.send(ready.bytes)
            var renderers: [Int32: Int32] = [:]
            while let (message, end) = try worker.receiveEnd(limit: most) {
                switch (ParentRequest(message: message), end) {
                case (.fork, let end?):
                    let (ours, theirs) = try PacketSocket.pair()
                    try parent.send(ParentRequest.fork.message, end: theirs, within: patience)
                    guard let told = try parent.receive(limit: most),
                        case .forked(let renderer)? = ParentReply(message: told.bytes)
                    else { exit(1) }
                    let child = try ForkServer.fork()
                    if child == 0 { try relay(end, ours, tally) }
                    renderers[child] = renderer
                    try worker.send(ParentReply.forked(child).message)
                case (.reap(let child), nil):
                    let ended = ChildProcess.reap(child)
                    if let renderer = renderers.removeValue(forKey: child) {
                        try parent.send(ParentRequest.reap(renderer).message, within: patience)
                        _ = try parent.receive(limit: most)
                    }
                    switch ended {
                    case .signal(let signal): try worker.send(ParentReply.ended(signal: signal).message)
                    case .status(let status): try worker.send(ParentReply.exited(status: status).message)
                    }
                default: exit(1)
                }
            }
        } catch {}
        exit(0)
    }

    private static let patience = Duration.seconds(10)

    /// Our end of its connection; only it holds the other end, so that it notices when ours closes.
    private static func realParent(_ words: [String]) throws -> PacketSocket {
        let (ours, theirs) = try PacketSocket.pair()
        _ = try ChildProcess(
            program: SystemFacts.programFolder + "/mezzotint-renderer", arguments: words, socket: theirs)
        return ours
    }

    private static func relay(_ worker: PacketSocket, _ renderer: PacketSocket, _ tally: Int32) throws -> Never {
        while let request = try worker.receive(limit: most) {
            try renderer.send(request.bytes, files: request.files)
            guard let reply = try renderer.receive(limit: most) else { _exit(1) }
            // The requested picture determines the damage, so that another run repeats it.
            let told = (try? request.files.first?.bytes(at: 0, count: 4096)) ?? []
            let seed = (request.bytes + told).reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
                ($0 ^ UInt64($1)) &* 0x100_0000_01B3
            }
            var random = SeededRandom(seed: seed)
            try answer(worker, reply, request.files, &random)
            _ = write(tally, "x", 1)
        }
        _exit(0)
    }

    private static func answer(
        _ worker: PacketSocket, _ reply: (bytes: [UInt8], files: [OpenFile]), _ files: [OpenFile],
        _ random: inout SeededRandom
    ) throws {
        let damaged = Mutation.of(reply.bytes, with: [reply.bytes], &random)
        switch random.below(100) {
        case 0: exit(Int32(random.below(256)))
        case 1: abort()
        case 2: while true { sleep(1) }
        case 3: try worker.send(damaged, files: Array(files.prefix(1 + random.below(2))))
        case 4..<8:
            try worker.send(damaged)
            try worker.send(reply.bytes)
        case 8..<12: try worker.send([UInt8](repeating: UInt8(random.below(256)), count: random.below(100_000)))
        case 12..<24:
            // An undamaged reply with a damaged file.
            for file in files.dropFirst() {
                let bytes = Mutation.of(
                    (try? file.bytes(at: 0, count: min(file.length, 65_536))) ?? [], with: [reply.bytes], &random)
                try? file.append(bytes)
            }
            try worker.send(reply.bytes)
        default: try worker.send(damaged.isEmpty ? [0] : damaged)
        }
    }
}
