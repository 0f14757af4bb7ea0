import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Posix

@Suite("Free space of a disk", .timeLimit(.minutes(1)))
struct FreeSpaceTests {
    /// A disk that answers when it is let.
    private final class Disk: Sendable {
        let gate = DispatchSemaphore(value: 0)
        let looks = Mutex(0)
        func measure() -> Int? {
            let number = looks.withLock { looks in
                looks += 1
                return looks
            }
            gate.wait()
            return number * 100
        }
    }

    @Test("A question gets what the last look found at once, though the disk hangs, and starts one look at most")
    func hangs() async throws {
        let disk = Disk()
        let space = FreeSpace { disk.measure() }
        for _ in 0..<9 { #expect(space.bytes == nil) }
        disk.gate.signal()
        try await eventually { space.bytes == 100 }
        // The next look hangs, as on a disk whose server went away.
        for _ in 0..<9 { #expect(space.bytes == 100) }
        #expect(disk.looks.withLock { $0 } <= 2)
        disk.gate.signal()
        try await eventually { space.bytes == 200 }
        disk.gate.signal()
    }

    @Test("While a look hangs, the free bytes are not known")
    func unknown() async throws {
        let disk = Disk()
        let space = FreeSpace(patience: .milliseconds(50)) { disk.measure() }
        disk.gate.signal()
        try await eventually { space.bytes == 100 }
        try await eventually { space.bytes == nil }
        disk.gate.signal()
        try await eventually { space.bytes == 200 }
        disk.gate.signal()
    }

    @Test("The free bytes of a folder are those of its disk, and those of none are not known")
    func folder() async throws {
        let folder = try TemporaryFolder()
        let space = FreeSpace(of: folder.file("."))
        try await eventually { space.bytes ?? 0 > 0 }
        let none = FreeSpace(of: folder.file("none/such"))
        #expect(none.bytes == nil)
    }
}
