internal import Foundation
internal import Posix
internal import TestSupport

/// Stands between a worker and its real renderer, and damages every reply but the first, which says that it is ready.
///
/// It knows nothing of what is said: messages and open files go through.
enum StandIn {
    private static let most = 1 << 20
    /// In the worker's folder: has a byte for each damaged message that was sent.
    static let tally = "replies"

    static func run(_ words: [String]) -> Never {
        let worker = PacketSocket(taking: 3)
        let tally = open(tally, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        do {
            let (ours, theirs) = try PacketSocket.pair()
            _ = try ChildProcess(
                program: SystemFacts.programFolder + "/mezzotint-renderer", arguments: words, socket: theirs)
            guard let ready = try ours.receive(limit: most) else { exit(1) }
            try worker.send(ready.bytes)
            while let request = try worker.receive(limit: most) {
                try ours.send(request.bytes, files: request.files)
                guard let reply = try ours.receive(limit: most) else { exit(1) }
                // By the picture that is asked for: another run damages alike.
                let told = (try? request.files.first?.bytes(at: 0, count: 4096)) ?? []
                let seed = (request.bytes + told).reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
                    ($0 ^ UInt64($1)) &* 0x100_0000_01B3
                }
                var random = SeededRandom(seed: seed)
                try answer(worker, reply, request.files, &random)
                _ = write(tally, "x", 1)
            }
        } catch {}
        exit(0)
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
            // A true reply, and a file that is another.
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
