import Foundation
import TestPixels
import TestSupport
import Testing

@Suite("The truth command: every file of a folder", .timeLimit(.minutes(2)))
struct TruthCommandTests {
    /// Seen by reading: it ended at the first, with no results of any.
    @Test("A file that cannot be written is reported with the reason, and the next is rendered")
    func unwritable() throws {
        let folder = try TemporaryFolder()
        let (pictures, out) = (folder.url.appending(path: "pictures"), folder.url.appending(path: "out"))
        try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(at: out, withIntermediateDirectories: true)
        // With ".png" it is longer than a name may be.
        let long = String(repeating: "a", count: 253)
        for name in [long, "b"] {
            try Data(Pixels.map(width: 60, height: 40).png).write(to: pictures.appending(path: name))
        }
        let ended = try Built.run("mezzotint-bench", ["truth", "--images", pictures.path, "--to", out.path])
        #expect(ended.status == 0, "\(ended.errors)")
        let results = try String(contentsOf: out.appending(path: "results.jsonl"), encoding: .utf8).split(separator: "\n")
        try #require(results.count == 2)
        #expect(results[0].contains("\"refusal\"") && !results[1].contains("\"refusal\""))
        #expect(FileManager.default.fileExists(atPath: out.appending(path: "b.png").path))
    }
}
