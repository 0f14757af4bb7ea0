internal import Posix
import TestSupport
internal import Testing

@Suite("Packet sockets: nobody waits for an end that does not read", .timeLimit(.minutes(1)))
struct PacketSocketTests {
    @Test("Sending to one ends at its deadline")
    func send() throws {
        let (ours, theirs) = try PacketSocket.pair()
        let message = [UInt8](repeating: 7, count: 32 << 10)
        var sent = 0
        let failure = #expect(throws: SystemFailure.self) {
            for _ in 0..<1_000 {
                try ours.send(message, within: 50)
                sent += 1
            }
        }
        #expect(failure?.isTimeout == true && sent > 0)
        // What was sent is there, and there is room again.
        #expect(try theirs.receive(limit: 64 << 10)?.bytes == message)
        try ours.send(message, within: 50)
    }
}
