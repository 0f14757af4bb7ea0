internal import Foundation
internal import ImageModel
internal import Records
internal import TestSupport
internal import WebServer

/// The kinds of hostile input, with their numbers in a whole campaign.
enum Input: Int, CaseIterable {
    case files, answers, replies, records

    var full: Int {
        switch self {
        case .files, .records: 100_000
        case .answers, .replies: 10_000
        }
    }
}

/// Runs hostile inputs side by side, each in proportion to its number, and an innocent job every second.
struct Campaign {
    private let seed: UInt64
    private let end: ContinuousClock.Instant?
    private let pictures: Pictures
    private let origin: WebServer
    private let hostile: HostileHosts
    /// A worker with its own renderers, and one whose renderers are `StandIn`s.
    private let main: Site
    private let replies: Site

    /// Most pending jobs of a site. With many more, an innocent job would wait for its turn.
    private static let window = 48
    private static let batch = 8
    /// Sources of damaged records: few, so that their rows are read again.
    private static let sources = 50
    private static let patience = Duration.seconds(60)

    init(seed: UInt64, seconds: Int?) async throws {
        self.seed = seed
        end = seconds.map { .now + .seconds($0) }
        let pictures = Pictures(seed: seed)
        self.pictures = pictures
        origin = try WebServer { request in
            pictures.file(request.path).map { WebServer.Response(type: "application/octet-stream", $0) } ?? .notFound
        }
        hostile = HostileHosts(HostileResponses(seed: seed, picture: pictures.innocent(0), origin: origin.address))
        main = try await Site([])
        replies = try await Site([
            "render.program=\(Built.program("mezzotint-campaign").path)"
        ])
    }

    func run() async throws -> CampaignResult {
        /// Published inputs, and the number that were processed: a job may be answered by several replies, or by none.
        var counts = [Int](repeating: 0, count: Input.allCases.count)
        var done = counts
        var (innocents, next) = (0, ContinuousClock.now)
        var quiet = ContinuousClock.now
        for number in 0..<Self.sources {
            let id = "sound-\(number)"
            try await main.publish(main.job("\(origin.address)/i/q\(number)", "24x24.png", id: id), as: id)
        }
        while true {
            done[Input.replies.rawValue] = await replies.replies
            let isOver = end.map { .now > $0 } ?? false || Input.allCases.allSatisfy { done[$0.rawValue] >= $0.full }
            let left = (await main.unanswered, await replies.unanswered)
            if isOver, left == (0, 0) { break }
            var isIdle = true
            if !isOver {
                if ContinuousClock.now >= next {
                    next += .seconds(1)
                    innocents += 1
                    let id = "innocent-\(innocents)"
                    try await main.publish(main.job("\(origin.address)/i/\(innocents)", "48x48.jpeg", id: id), as: id)
                }
                let open = Input.allCases.filter {
                    done[$0.rawValue] < $0.full && ($0 == .replies ? left.1 : left.0) < Self.window
                }
                if let input = open.min(by: { done[$0.rawValue] * $1.full < done[$1.rawValue] * $0.full }) {
                    for _ in 0..<Self.batch {
                        try await publish(input, counts[input.rawValue])
                        counts[input.rawValue] += 1
                        if input != .replies { done[input.rawValue] += 1 }
                    }
                    isIdle = false
                }
            }
            try await main.look()
            try await replies.look()
            quiet = max(await main.lastAnswer, await replies.lastAnswer, isIdle ? quiet : .now)
            if ContinuousClock.now - quiet > Self.patience { break }
            if isIdle { try await Task.sleep(for: .milliseconds(5)) }
        }
        try await main.end()
        try await replies.end()
        return CampaignResult(
            counts: done, ends: await main.ends.merging(replies.ends) { first, _ in first },
            crashes: await main.crashes + replies.crashes, lost: await main.lost + replies.lost,
            repeated: await main.repeated + replies.repeated, rows: await main.rows, innocent: await main.innocent,
            asked: innocents)
    }

    private func publish(_ input: Input, _ number: Int) async throws {
        var random = SeededRandom(seed: seed &+ UInt64(number) << 8 &+ UInt64(input.rawValue))
        let id = "\(input)-\(number)"
        let lane = random.pick(Lane.allCases)
        switch input {
        case .files:
            let variant = random.pick([
                "24x24.jpeg", "24x24.jpeg", "24x24.webp", "24x24.png", "24x24.gif", "24x24.avif",
            ])
            try await main.publish(main.job("\(origin.address)/f/\(number)", variant, id: id, lane: lane), as: id)
        case .answers:
            try await main.publish(main.job(hostile.url(number), "24x24.png", id: id, lane: lane), as: id)
        case .replies:
            let variant = random.pick(["24x24.jpeg", "24x24.png", "24x24.webp"])
            try await replies.publish(
                replies.job("\(origin.address)/i/r\(number)", variant, id: id, lane: lane), as: id)
        case .records:
            let variant = random.pick(["24x24.png", "24x24.png", "16x16.webp"])
            var bad = try await main.job(
                "\(origin.address)/i/q\(number / 2 % Self.sources)", variant, id: id, lane: lane)
            if number % 2 == 1, case let rows = try await main.rows(of: bad), !rows.isEmpty {
                return try await main.publish(row: damaged(random.pick(rows), &random))
            }
            if random.below(8) > 0 { bad.value = damaged(bad.value ?? [], &random) }
            if random.below(8) == 0 { bad.key = Mutation.of(bad.key, with: [], &random) }
            if random.below(8) == 0 {
                bad.headers.append(RecordHeader("ce_type", Mutation.of([1, 2, 3], with: [], &random)))
            }
            try await main.publish(bad, as: id)
        }
    }

    private func damaged(_ row: Record, _ random: inout SeededRandom) -> NewRecord {
        var bad = NewRecord(
            topic: .variants, partition: row.partition, key: row.key, value: row.value, headers: row.headers)
        switch random.below(16) {
        case 0, 1: bad.key = damaged(bad.key, &random)
        case 2: bad.value = nil
        case 3: bad.headers = [RecordHeader(EventHeader.epoch, damaged(Array("7".utf8), &random))]
        default: bad.value = damaged(row.value ?? [], &random)
        }
        return bad
    }

    private func damaged(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        random.below(2) == 0 ? Mutation.light(bytes, &random) : Mutation.of(bytes, with: [bytes], &random)
    }
}
