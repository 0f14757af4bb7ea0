internal import Digest
package import EmbeddedLog
package import Foundation
package import ImageModel
package import Ports
internal import TestPixels
package import TestSupport
internal import Testing

/// A data directory with the real programs around it, and an origin on loopback.
package final class Workplace: Sendable {
    package let folder: TemporaryFolder
    package let origin: LocalOrigin
    /// Settings of every program that is run here.
    private let settings: [String]

    package init(_ settings: String..., pictures: URL? = nil) throws {
        folder = try TemporaryFolder()
        origin = try LocalOrigin(folder: pictures)
        self.settings =
            (["data=data", "fetch.allow=127.0.0.0/8", "retry.base=50ms", "retry.cap=200ms", "render.processes=2"]
            + settings)
            .flatMap { ["--set", $0] }
    }

    /// The settings as a shell takes them.
    package var words: String { settings.joined(separator: " ") }

    /// Draws small pictures, and serves each under `/<number>.png`; their URLs.
    package func draw(_ count: Int, side: Int = 96) -> [String] {
        (0..<count).map { number in
            let pixels = Pixels.photograph(width: side + number % 7, height: side * 3 / 4, seed: UInt64(number + 1))
            origin.serve("/\(number).png", .bytes(pixels.png, type: "image/png"))
            return origin.url("/\(number).png")
        }
    }

    package func run(_ words: String..., input: String = "") throws -> Ended { try run(words, input: input) }
    package func run(_ words: [String], input: String = "") throws -> Ended {
        try Built.run("mezzotint", settings + words, input: Data(input.utf8), in: folder.url)
    }

    /// Appends a job a line, as `mezzotint publish` takes them.
    package func publish(_ jobs: [(url: String, variants: [String], lane: Lane)], id prefix: String = "job") throws {
        let lines = jobs.enumerated().map { number, job in
            let variants = job.variants.map { "\"\($0)\"" }.joined(separator: ",")
            return
                "{\"url\":\"\(job.url)\",\"variants\":[\(variants)],\"lane\":\"\(job.lane.rawValue)\",\"id\":\"\(prefix)-\(number)\"}"
        }
        let ended = try run("publish", "-", input: lines.joined(separator: "\n"))
        #expect(ended.status == 0, "\(ended.errors)")
    }

    package func worker(_ more: String..., untilIdle: Bool = true) throws -> RunningProgram {
        try RunningProgram(
            "mezzotint-worker",
            settings + more.flatMap { ["--set", $0] } + ["--json"] + (untilIdle ? ["--until-idle"] : []), in: folder.url
        )
    }

    /// A worker's whole run; its summary.
    @discardableResult
    package func work(_ more: String...) async throws -> Summary {
        let worker = try RunningProgram(
            "mezzotint-worker", settings + more.flatMap { ["--set", $0] } + ["--json", "--until-idle"], in: folder.url)
        let ended = try await worker.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        return try Summary(ended)
    }

    package var log: EmbeddedLog { get throws { try EmbeddedLog(folder.file("data/log")) } }

    /// Every record of a topic, partition by partition.
    package func records(_ topic: Topic) async throws -> [Record] {
        let log = try self.log
        var records: [Record] = []
        for number in 0..<Int32(log.partitionCount) {
            var next: Int64 = 0
            while case let some = try await log.read(topic, PartitionID(number), from: next, limit: 10_000),
                let last = some.last
            {
                records += some
                next = last.offset + 1
            }
        }
        await log.close()
        return records
    }

    package func append(_ records: [NewRecord]) async throws {
        let log = try self.log
        for result in await log.append(records) { #expect(result.offset != nil) }
        await log.close()
    }

    package func outcomes() async throws -> [OutcomeReport] { try await records(.outcomes).map { try OutcomeReport($0) } }

    /// The rows that the changelog holds, and whether every one's file is there with just these bytes.
    package func rows() async throws -> [VariantRow] {
        var rows: [VariantRow] = []
        for record in try await records(.variants) {
            if case .change(.variant(let row)) = try ChangelogEntry(record) { rows.append(row) }
        }
        for row in rows {
            let bytes = try Data(contentsOf: folder.url.appending(path: "data/store/\(row.location)"))
            #expect(bytes.count == row.bytes && SHA256.digest(of: Array(bytes)) == row.digest, "\(row.location)")
        }
        return rows
    }
}

/// What a worker's last line says.
package struct Summary {
    private let numbers: [String: Double]

    package init(_ ended: Ended) throws {
        let line = try #require(ended.lines.last, "\(ended.errors)")
        numbers = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Double])
    }

    package subscript(_ name: String) -> Int { numbers[name].map { Int($0) } ?? -1 }
}
