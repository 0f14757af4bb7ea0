import Foundation
import TestSupport
import Testing

@Suite("mezzotint-demo", .timeLimit(.minutes(1)))
struct DemoTests {
    @Test("A folder that is not there, or has no pictures in it, is named before anything is done")
    func pictures() throws {
        let folder = try TemporaryFolder()
        let missing = try Built.run("mezzotint-demo", ["--pictures", folder.file("none"), "--out", folder.file("out")])
        #expect(missing.status == 1)
        #expect(missing.errors.contains("\(folder.file("none")) cannot be read"))
        let empty = try Built.run("mezzotint-demo", ["--pictures", folder.path, "--out", folder.file("out")])
        #expect(empty.status == 1)
        #expect(empty.errors.contains("There are no pictures"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
    }

    @Test("Something that is no number of jobs is wrong usage")
    func jobs() throws {
        #expect(try Built.run("mezzotint-demo", ["--jobs", "0"]).status == 2)
    }
}
