import Foundation
import Glibc
import ImageModel
import Posix
import TestSupport
import TestWorkplace
import Testing

@Suite("A worker's files are its own, but for variants", .timeLimit(.minutes(2)))
struct PrivateFilesTests {
    private func modes(of place: Workplace) throws -> [String: String] {
        let data = place.folder.file("data")
        var modes = ["": FileSystem.mode(of: data)]
        for path in try FileManager.default.subpathsOfDirectory(atPath: data) {
            modes[path] = FileSystem.mode(of: data + "/" + path)
        }
        return modes.mapValues { $0.map { String($0, radix: 8) } ?? "" }
    }

    @Test("Logs, indexes and originals can be read by nobody else, variants by all; web servers come through to them")
    func fresh() async throws {
        let place = try Workplace()
        try place.publish([(place.draw(1)[0], ["32x32-q80.webp"], .fast)])
        let worker = try place.worker(untilIdle: false)
        // Looked at while it runs: a WAL, and what comes and goes with it.
        while try await place.outcomes().isEmpty {}
        let modes = try modes(of: place)
        worker.signal(SIGTERM)
        _ = try await worker.ended()
        #expect(modes[""] == "711")
        #expect(modes.keys.contains { $0.hasSuffix("-wal") } && modes.keys.contains { $0.hasSuffix("original.png") })
        for (path, mode) in modes where !path.isEmpty {
            let isVariant = path.hasPrefix("store") && !path.hasPrefix("store/.")
            let isFolder =
                (try? FileManager.default.contentsOfDirectory(atPath: place.folder.file("data/\(path)"))) != nil
            #expect(mode == (isVariant ? (isFolder ? "755" : "644") : isFolder ? "700" : "600"), "\(path)")
        }
    }

    @Test(
        "A folder that an older version or a person made anybody's, or its group's to write, is closed; fewer rights stay",
        arguments: [
            ("755", "700"), ("777", "700"), ("770", "700"), ("701", "700"), ("2775", "2700"), ("750", "750"),
            ("710", "710"),
        ])
    func older(before: String, after: String) async throws {
        let place = try Workplace()
        try place.publish([(place.draw(1)[0], ["32x32-q80.webp"], .fast)])
        let mode = try #require(mode_t(before, radix: 8))
        for name in ["log", "index", "originals"] {
            let folder = place.folder.file("data/\(name)")
            try Folder.make(folder)
            #expect(chmod(folder, mode) == 0)
        }
        try await place.work()
        let modes = try modes(of: place)
        for name in ["log", "index", "originals"] { #expect(modes[name] == after, "\(name)") }
    }
}
