internal import Clocks
import CommandLine
import Foundation
internal import ImageModel
import Posix
import WebServer

/// One round of the demo: jobs for every picture on both lanes, and the worker's summary of them.
struct Round {
    let title: String
    let began: WallTime
    private let account: [String: Double]
    private let jobs: Int

    init(
        _ title: String, jobs: Int, of gallery: Gallery, at origin: WebServer, wanting specs: [Lane: [String]],
        by programs: Programs, workers: Int
    ) throws {
        (self.title, self.jobs) = (title, jobs)
        began = SystemTime.wall
        let lines = (0..<jobs).map { number in
            // All pictures on the fast lane, then all on the slow one, then copies of them.
            let turn = number / gallery.names.count
            let lane: Lane = turn % 2 == 0 ? .fast : .slow
            let url = gallery.url(of: gallery.names[number % gallery.names.count], copy: turn / 2, at: origin)
            let wanted = (specs[lane] ?? []).map { "\"\($0)\"" }.joined(separator: ",")
            return "{\"url\":\"\(url)\",\"variants\":[\(wanted)],\"lane\":\"\(lane.rawValue)\"}\n"
        }
        Console.complain("\(title): \(jobs) jobs")
        _ = try programs.run("mezzotint", ["publish", "--json", "-"], input: lines.joined())
        let running = try (0..<workers).map { _ in try programs.start("mezzotint-worker", ["--until-idle", "--json"]) }
        account = try running.map { try Self.account($0.finish()) }.reduce([:]) { sum, next in
            // The workers ran at the same time, and each has its own memory.
            sum.merging(next) { $0 + $1 }.merging(
                ["seconds", "peakMemoryBytes", "rendererPeakMemoryBytes"].map { ($0, max(sum[$0] ?? 0, next[$0] ?? 0)) }
            ) { $1 }
        }
    }

    private static func account(_ printed: String) throws -> [String: Double] {
        let last = printed.split(separator: "\n").last.map { Data($0.utf8) } ?? Data()
        guard let account = (try? JSONSerialization.jsonObject(with: last)) as? [String: NSNumber] else {
            throw DemoFailure("mezzotint-worker did not end with its account. Run it by hand to see why.")
        }
        return account.mapValues(\.doubleValue)
    }

    subscript(_ name: String) -> Double { account[name] ?? 0 }

    static let titles = [
        "", "JOBS", "STORED", "REUSED", "UNCHANGED", "FAILED", "FETCHES", "SAVED", "FETCHED", "SECONDS", "VARIANTS/S",
    ]

    var cells: [String] {
        let variants = self["stored"] + self["reused"]
        return [
            title, "\(jobs)", whole("stored"), whole("reused"), whole("unchanged"), whole("failed"), whole("fetches"),
            "\(jobs - Int(self["fetches"]))", bytes("fetchedBytes"), String(format: "%.1f", self["seconds"]),
            String(format: "%.1f", variants / max(0.001, self["seconds"])),
        ]
    }

    private func whole(_ name: String) -> String { "\(Int(self[name]))" }
    private func bytes(_ name: String) -> String { Self.bytes(Int(self[name])) }

    static func bytes(_ count: Int) -> String {
        count < 1 << 20
            ? String(format: "%.1f KiB", Double(count) / 1024) : String(format: "%.1f MiB", Double(count) / 1_048_576)
    }
}
