import Foundation
import Glibc
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

    @Test("A link, a pipe or a folder in the place of a file of ours is refused by name, and what it leads to stays")
    func irregular() throws {
        let other = folder.file("other")
        try Data("precious".utf8).write(to: URL(filePath: other))
        let things: [(String) throws -> Void] = [
            { try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: other) },
            { try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: other + "/no") },
            { #expect(mkfifo($0, 0o600) == 0) }, { try Folder.make($0) },
        ]
        let openings: [(String) throws -> Void] = [
            { _ = try FileLock($0) }, { _ = try FileLock($0, .asking) }, { _ = try WakeFile($0, watching: true) },
            { _ = try WakeFile($0, watching: false) }, { _ = try OpenFile(reading: $0) },
            { try FileSystem.reserve(0, at: $0) },
        ]
        for make in things {
            try make(path)
            for open in openings {
                let failure = #expect(throws: SystemFailure.self) { try open(path) }
                #expect(failure?.description.hasPrefix("open \(path): it is not a regular file") == true)
            }
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(FileManager.default.contents(atPath: other) == Data("precious".utf8))
    }

    @Test("A lock that cannot be opened is named")
    func unusable() {
        let failure = #expect(throws: SystemFailure.self) { try FileLock(folder.file("no/lock")) }
        #expect(failure?.isMissing == true)
    }
}
