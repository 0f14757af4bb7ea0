import Clocks
import Ports
import Posix
import Records
import Testing

@testable import KafkaLog

@Suite("Kafka: the fence of a process that was stopped")
struct WriteFenceTests {
    static let session = Duration.seconds(10)

    @Test("Without an owner in the process everybody may write")
    func withoutOwner() {
        let fence = WriteFence()
        #expect(fence.isOpen)
        #expect(!fence.isShut)
    }

    @Test("A pulse that is older than the session shuts it before the pulse comes back, and until all was given up")
    func stopped() {
        let fence = WriteFence()
        let now = SystemTime.monotonic
        fence.begin(session: Self.session, at: now)
        #expect(fence.isOpen)
        fence.begin(session: Self.session, at: now - Self.session / 5 * 4 - .nanoseconds(1))
        #expect(!fence.isOpen)
        fence.beat(at: now)
        #expect(!fence.isOpen && fence.isShut)
        fence.reopen()
        #expect(fence.isOpen && !fence.isShut)
    }

    @Test("A poll thread that does not come round shuts it")
    func stalled() {
        let fence = WriteFence()
        fence.begin(session: Self.session, at: SystemTime.monotonic)
        fence.beat(at: SystemTime.monotonic)
        fence.shut()
        #expect(!fence.isOpen)
        fence.end()
        #expect(fence.isOpen)
    }

    @Test("What was begun in an ownership is not written in the next one of the same partition")
    func ownerships() {
        let fence = WriteFence()
        let (first, second, other) = (
            Ownership(PartitionID(1), epoch: 7), Ownership(PartitionID(1), epoch: 9),
            Ownership(PartitionID(2), epoch: 7)
        )
        func held() -> [Ownership] { [first, second, other].filter(fence.isHeld) }
        fence.begin(first)
        fence.begin(other)
        #expect(held() == [first, other])
        fence.end([PartitionID(1)])
        #expect(held() == [other])
        fence.begin(second)
        #expect(held() == [second, other])
        fence.end()
        #expect(held() == [])
    }
}
