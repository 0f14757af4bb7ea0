internal import Foundation
internal import Posix
import TestSupport
internal import Testing

@Suite("Fork server: memory that children would share", .timeLimit(.minutes(1)), .serialized)
struct ForkServerTests {
    /// By reading: memory that is read and run alone was passed over, though an mprotect makes it writable.
    @Test(
        "A shared mapping counts if it can be written, now or later",
        arguments: [
            (O_RDWR, PROT_READ | PROT_WRITE, MAP_SHARED, true), (O_RDWR, PROT_READ, MAP_SHARED, true),
            (O_RDONLY, PROT_READ, MAP_SHARED, false), (O_RDWR, PROT_READ | PROT_WRITE, MAP_PRIVATE, false),
        ])
    func shared(access: Int32, protection: Int32, kind: Int32, counts: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("shared-mapping")
        try Data(count: 4_096).write(to: URL(filePath: path))
        let descriptor = open(path, access)
        defer { close(descriptor) }
        let memory = try #require(mmap(nil, 4_096, protection, kind, descriptor, 0))
        #expect(memory != MAP_FAILED)
        defer { munmap(memory, 4_096) }
        #expect(ForkServer.sharedMemory.contains { $0.hasSuffix(path) } == counts)
    }
}
