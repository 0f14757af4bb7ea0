import Foundation
import Glibc
import ImageModel
import Ports
import Records
import TestPixels
import TestSupport
import TestWorkplace
import Testing
import VariantSpec

/// Three workers on one Kafka, the jobs that they are given, and what must be true of them in the end.
actor Crew {
    /// What a worker holds from a fetch to its row is bounded by bytes: eight of these pictures, and one more.
    static let (byteLimit, budget) = ("fetch.byteLimit=16KiB", "fetch.budget=80KiB")
    private static let inFlight = 9
    private static let variants = ["full.png", "24y24-q80.jpg", "32x32.png", "48x48-q80.webp"]
    private static let pictures = 40
    private static let side = 64

    let place: Workplace
    private(set) var workers: [RunningProgram] = []
    private var random: SeededRandom
    private let origin: FickleOrigin
    private var published = 0
    private var wanted: Set<String> = []
    /// How often a worker lost partitions with jobs under way: their new owners repeat these.
    private var losses = 0

    init(_ place: Workplace, seed: UInt64, count: Int = 3) async throws {
        (self.place, random) = (place, SeededRandom(seed: seed))
        origin = FickleOrigin(place, pictures: Self.pictures, side: Self.side)
        for _ in 0..<count { workers.append(try place.worker(untilIdle: false)) }
        for worker in workers { await worker.says("The worker runs") }
    }

    var anyWorker: Int { Int.random(in: workers.indices, using: &random) }

    /// A moment, not a meeting: wherever it lands in fetch, render, store, announce or commit.
    func moment(_ range: ClosedRange<Double> = 0.2...1.5) async throws {
        try await Task.sleep(for: .seconds(Double.random(in: range, using: &random)))
    }

    /// Jobs on both lanes, half of them for sources that are new in this round.
    func publish(_ count: Int, round: Int) throws {
        let jobs = (0..<count).map { number in
            (
                url: origin.urls.randomElement(using: &random)!
                    + "?round=\(number % 2 == 0 ? round : max(0, round - 1))",
                variants: [Self.variants.randomElement(using: &random)!],
                lane: Bool.random(using: &random) ? Lane.fast : .slow
            )
        }
        try place.publish(jobs, id: "round\(round)")
        published += count
        wanted.formUnion(jobs.lazy.map(\.url).filter(origin.isWell))
    }

    /// A new worker in the place of one that ended.
    func replace(_ index: Int) async throws {
        workers[index] = try place.worker(untilIdle: false)
        await workers[index].says("The worker runs")
    }

    func kill(_ index: Int) async throws {
        workers[index].signal(SIGKILL)
        examine(try await workers[index].ended().errors)
    }

    func stop(_ index: Int) async throws { try await stop(workers[index]) }

    func stop(_ worker: RunningProgram) async throws {
        worker.signal(SIGTERM)
        let ended = try await worker.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        examine(ended.errors)
    }

    private static let lossLines = [
        "kafka.timing.revoke ended before", "The group did not hear of this worker",
        "This worker was away for too long",
    ]

    /// What a worker left must not look as if a person had set the group's offsets.
    private func examine(_ errors: String) {
        for line in Self.lossLines { losses += errors.components(separatedBy: line).count - 1 }
        for words in ["was set back from", "have no answer"] { #expect(!errors.contains(words), "\(errors)") }
    }

    /// Waits until every job is finished, and sends everybody home.
    func finish() async throws {
        let log = try await place.open()
        try await eventually {
            let found = try await log.partitionOffsets(Topic.consumed, log.partitions)
            var left = found.reduce(0) { $0 + $1.records }
            for partition in log.partitions { left += try await Self.parked(partition, in: log) }
            let isAnyLeft = workers.contains { $0.isRunning }
            let words = isAnyLeft ? "" : workers.map(\.errors).joined(separator: "\n")
            try #require(left == 0 || isAnyLeft, "\(left) records are left, and no worker: \(words)")
            return left == 0
        }
        await log.close()
        for index in workers.indices { try await stop(index) }
    }

    private static func parked(_ partition: PartitionID, in log: any Log) async throws -> Int64 {
        let newest = try await log.latest(.parked, partition, keyPrefix: [])
        return Int64(newest.count { if case .parked? = RecordKey($0.key) { true } else { false } })
    }

    /// Every job ended, and in one way; every variant is there, whole, and of the picture that was asked for.
    func check(_ name: String, disturbances: Int) async throws {
        let outcomes = try await origin.finalAnswers(
            in: place, of: published, disturbances: disturbances, underWay: Self.inFlight * max(1, losses))
        let stored = Set(try await place.rows().map(\.location))
        var looked: Set<String> = []
        for outcome in outcomes where outcome.kind.isSuccess {
            for variant in outcome.variants {
                let location = try #require(variant.location)
                #expect(stored.contains(location))
                guard looked.insert(location).inserted, variant.spec.format == .png else { continue }
                try check(location, of: outcome.url, variant)
            }
        }
        let (sources, fetches) = (wanted.count, origin.fetchesOfWell)
        #expect(fetches <= sources + workers.count * Self.inFlight * disturbances)
        print(
            "\(name): \(disturbances) times, \(losses) losses, \(published) jobs, \(outcomes.count) outcomes, \(stored.count) variants, "
                + "\(sources) sources, \(fetches) fetches")
    }

    /// The very pixels at full size, the right colours on the whole below it.
    private func check(_ location: String, of url: String, _ variant: OutcomeReport.Variant) throws {
        let bytes = try Data(contentsOf: place.folder.url.appending(path: "data/store/\(location)"))
        let pixels = try #require(Pixels(png: Array(bytes)), "\(location)")
        let number = try #require(URL(string: url)?.deletingPathExtension().lastPathComponent).withCString { atoi($0) }
        let source = Workplace.picture(Int(number), side: Self.side)
        if "\(variant.spec)" == "full.png" { #expect(pixels == source, "\(url)") }
        #expect(variant.size.map { $0.width == pixels.width && $0.height == pixels.height } == true)
        for channel in 0..<3 {
            #expect(abs(pixels.mean(channel) - source.mean(channel)) < 4, "\(url), \(variant.spec)")
        }
    }
}

extension Pixels {
    fileprivate func mean(_ channel: Int) -> Double {
        let sum = stride(from: channel, to: bytes.count, by: channels).reduce(0) { $0 + Int(bytes[$1]) }
        return Double(sum) / Double(width * height)
    }
}
