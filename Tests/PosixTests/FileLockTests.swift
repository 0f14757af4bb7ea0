import Posix
import TestSupport
import Testing

@Suite("Locks between processes", .timeLimit(.minutes(1)))
struct FileLockTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("lock")
    }

    @Test("A byte is held by one opening at a time, each byte by itself; the holder's end gives it up")
    func exclusion() throws {
        let other = try FileLock(path)
        do {
            let holder = try FileLock(path)
            #expect(try holder.tryLock(0))
            #expect(try !other.tryLock(0))
            #expect(try other.tryLock(1))
            #expect(other.isHeldElsewhere(0) && !other.isHeldElsewhere(1) && holder.isHeldElsewhere(1))
            holder.unlock(0)
            #expect(!other.isHeldElsewhere(0))
            try holder.lock(0)
        }
        #expect(try other.tryLock(0))
    }

    @Test("A note says who holds it, to everybody who opens the file")
    func note() throws {
        let holder = try FileLock(path)
        #expect(holder.note == "unknown")
        try holder.setNote("pid 4711, since yesterday")
        try holder.setNote("pid 5")
        #expect(try FileLock(path).note == "pid 5")
    }

    @Test("A lock that cannot be opened is named")
    func unusable() {
        let failure = #expect(throws: SystemFailure.self) { try FileLock(folder.file("no/lock")) }
        #expect(failure?.isMissing == true)
    }
}
