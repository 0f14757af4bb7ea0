import Foundation
import Ports
import Posix
import TestSupport
import Testing

@testable import Store

@Suite("A store whose process is killed", .timeLimit(.minutes(2)))
struct KilledStoreTests {
    @Test("Every blob that can be seen is whole, and a new start clears the rest away", arguments: [3, 40, 150])
    func kill(after puts: Int) async throws {
        let folder = try TemporaryFolder()
        setenv("MEZZOTINT_TEST_STORE", folder.file("store"), 1)
        setenv("MEZZOTINT_TEST_PUTS", "\(puts)", 1)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            let environment = ProcessInfo.processInfo.environment
            let store = try FileStore(root: try #require(environment["MEZZOTINT_TEST_STORE"]))
            let puts = try #require(environment["MEZZOTINT_TEST_PUTS"].flatMap { Int($0) })
            await withTaskGroup(of: Bool.self) { group in
                for i in 1...200 {
                    group.addTask {
                        (try? await store.put(Blob.slice(Blob.bytes(i * 100)), as: Blob.name(width: i))) != nil
                    }
                }
                var done = 0
                for await isPut in group where isPut {
                    done += 1
                    if done == puts { Foundation.kill(getpid(), SIGKILL) }
                }
            }
        }
        let store = try FileStore(root: folder.file("store"), leftoverAge: .seconds(-1))
        var whole = 0
        for i in 1...200 {
            guard let file = try await store.open(Blob.name(width: i).location) else { continue }
            #expect(try file.allBytes() == Blob.bytes(i * 100))
            whole += 1
        }
        #expect((puts...200).contains(whole))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("store/.tmp")).isEmpty)
    }
}
