import CacheSuite
import Canonical
import Clocks
import Digest
import EmbeddedLog
import Foundation
import HTTPCache
import ImageModel
internal import Jobs
import Partition
import Ports
import Posix
import Records
import Synchronization
import TestPixels
import TestSupport
import Testing
import VariantSpec
import WorkerRuntime

/// http-tests/cache-tests, asked by jobs of a worker: its own look-ups, decisions, requests, rows and answers.
///
/// A request of the suite's client is a job for one variant of the test's URL; the headers that it names are what the settings
/// send from then on. Each answer's picture is another one, so the version of the row that an outcome names tells which answer
/// it was made of. The wall's clock stands still but for the suite's pauses, and all tests go through them together: a worker
/// begins anew for each step.
@Suite(
    "HTTP caching: the public suite, asked by jobs", .timeLimit(.minutes(5)),
    .enabled(if: CacheSuite.isThere, Comment(rawValue: CacheSuite.comment)))
struct CacheSuiteJobTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    @Test("Everything that RFC 9111 requires and that can be asked by a job holds; the rest is counted by reason")
    func suite() async throws {
        let all = try CacheSuite()
        let suite = all.only { NoMeaning(of: $0) == nil }
        let own = try await results(of: suite.tests)
        for test in suite.tests where test.kind == .required {
            let result = suite.settled(test, own)
            #expect(result == .passed, "\(test.file) \(test.id)")
        }
        let table = try suite.table(own)
        let page = try CacheSuite.architecture()
        let isDocumented = page.contains(table)
        #expect(isDocumented, "\(table)")
        for reason in NoMeaning.allCases {
            let left = all.tests.filter { NoMeaning(of: $0) == reason }
            print("\(left.count) tests of the suite: \(reason.rawValue): \(left.map(\.id).joined(separator: " "))")
            let isCounted = page.contains("| \(left.count) | \(reason.rawValue) |")
            #expect(isCounted, "\(left.count) \(reason)")
        }
    }

    private func results(of tests: [CacheSuite.Test]) async throws -> [String: CacheSuite.Result] {
        let asked = try tests.enumerated().map { try AskedTest($1, on: "127.0.\(1 + $0 / 200).\(1 + $0 % 200)") }
        var now = WallTime(milliseconds: SystemTime.wall.milliseconds / 1_000 * 1_000)
        while asked.contains(where: { $0.isLeft }) {
            let step = asked.filter { $0.isLeft && !$0.isPaused }
            if step.isEmpty {
                now += 3_000
                for test in asked { test.isPaused = false }
            } else {
                try await ask(step, at: now)
            }
        }
        return Dictionary(uniqueKeysWithValues: asked.map { ($0.test.id, $0.result) })
    }

    /// The next request of each.
    private func ask(_ tests: [AskedTest], at now: WallTime) async throws {
        var sent = SentHeaders(userAgent: "test")
        let log = try bench.log
        let intake = Intake(rules: bench.rules)
        let spec = try bench.rules.spec(of: "32x32.png")
        var records: [NewRecord] = []
        for test in tests {
            let headers = test.begin(at: now)
            sent.groups.append((try OriginGroup(name: test.test.id, hosts: [test.host]), headers))
            let job = try intake.job(url: test.url, variants: [spec], id: test.job, lane: .fast)
            records.append(job.newRecord(partitions: log.partitionCount, at: 0))
        }
        try await bench.append(records, to: log)
        try await bench.work(
            { configuration in
                configuration.partition.sent = sent
                // The suite takes what says nothing to be stale at once.
                configuration.partition.freshness.standard = .zero
                configuration.partition.freshness.ceiling = .days(100_000_000)
                configuration.partition.retry.attempts = 1
                // What an answer from the store owes is left: the suite's client asks sooner.
                configuration.patience = .zero
            }, log: log, time: StillTime(wall: now), sent: sent)
        let outcomes = Dictionary(try await bench.outcomes().map { ($0.job, $0) }) { first, _ in first }
        for test in tests {
            let location = outcomes[test.job]?.variants.first?.location
            let row = try await bench.rows(of: try bench.rules.source(of: test.url).key)[spec]
            test.end(servedBy: row?.location == location ? row?.version : nil)
        }
    }
}

/// Why a test of the suite says nothing of jobs.
private enum NoMeaning: String, CaseIterable {
    case status = "store or hand out an answer that is not 200: a job ends with it, or is tried again"
    case headers = "look at headers that the client receives: a job reports variants alone"
    case conditions = "have a client with conditions of its own: a job has none"

    init?(of test: CacheSuite.Test) {
        let isConfirmed = test.requests.contains { ($0["expected_type"] as? String)?.hasSuffix("validated") == true }
        for request in test.requests {
            let status = (request["response_status"] as? [Any])?.first as? Int ?? 200
            if status != 200, request["expected_status"] as? Int != 200 {
                self = .status
                return
            }
            let sent = SuiteOrigin.headers(request["request_headers"], at: 0)
            if sent.contains(where: { ["if-none-match", "if-modified-since"].contains($0.name) }) {
                self = .conditions
                return
            }
            let told = ExpectedHeader.all(of: request).allSatisfy { header in
                // Which answer it is tells of the rest, unless a 304 has changed it; what a row keeps shows in what is done.
                header.isCount || (isConfirmed ? CachePolicy.fields.contains(header.name) : header.value != nil)
            }
            let missing = request["expected_response_headers_missing"] as? [String] ?? []
            if !told || missing.contains(where: { $0 != "server-request-count" }) {
                self = .headers
                return
            }
        }
        return nil
    }
}

private struct ExpectedHeader {
    /// In lower case.
    let name: String
    let value: String?
    /// It says which answer this is.
    var isCount: Bool { ["client-request-count", "server-request-count"].contains(name) }

    static func all(of request: [String: Any]) -> [ExpectedHeader] {
        (request["expected_response_headers"] as? [Any] ?? []).map { expected in
            let pair = expected as? [Any] ?? [expected]
            return ExpectedHeader(
                name: (pair.first as? String ?? "").lowercased(), value: pair.count > 1 ? pair[1] as? String : nil)
        }
    }
}

/// One test of the suite, its origin, and what its jobs came to.
private final class AskedTest {
    let test: CacheSuite.Test
    let host: String
    var isPaused = false
    /// By request: the number of the answer that the job's variant is made of; nil where there is none.
    private var served: [Int?] = []
    private let book: Book
    private let origin: BrokenOrigin

    /// What the origin's threads see.
    private final class Book: Sendable {
        struct State {
            var origin: SuiteOrigin
            /// Of the request that is being made, from 1.
            var number = 0
            var now: WallTime = 0
        }
        let state: Mutex<State>

        init(_ test: CacheSuite.Test) { state = Mutex(State(origin: SuiteOrigin(test))) }

        func answer(_ request: [UInt8]) -> [UInt8] {
            let lines = String(decoding: request, as: UTF8.self).split(separator: "\r\n").dropFirst()
            let asked = lines.map { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                return (name: parts[0].lowercased(), value: (parts.last ?? "").trimmingCharacters(in: .whitespaces))
            }
            let (answer, number) = state.withLock { state in
                (state.origin.answer(asked, to: state.number, at: state.now), state.number)
            }
            guard let (status, headers) = answer else { return [] }
            let body = status == 304 ? [] : AskedTest.picture(number)
            let head = ["HTTP/1.1 \(status) Said"] + headers.map { "\($0.name): \($0.value)" }
            let ends = (status == 304 ? [] : ["content-length: \(body.count)"]) + ["connection: close", "", ""]
            return Array((head + ends).joined(separator: "\r\n").utf8) + body
        }
    }

    init(_ test: CacheSuite.Test, on host: String) throws {
        let book = Book(test)
        (self.test, self.host, self.book) = (test, host, book)
        origin = try BrokenOrigin(on: host, .scripted { .answer(book.answer($0)) })
    }

    var url: String { origin.url("/a.png") }
    var job: String { "\(test.id)/\(served.count + 1)" }
    var isLeft: Bool { served.count < test.requests.count }

    /// - Returns: what is sent with the next request.
    func begin(at now: WallTime) -> [SuiteOrigin.Header] {
        let number = served.count + 1
        book.state.withLock { ($0.number, $0.now) = (number, now) }
        return SuiteOrigin.headers(test.requests[number - 1]["request_headers"], at: now)
    }

    func end(servedBy version: SourceVersion?) {
        isPaused = test.requests[served.count]["pause_after"] as? Bool == true
        let answers = Array(1...test.requests.count)
        served.append(version.flatMap { version in answers.first { Self.version($0) == version } })
    }

    /// Another one for each answer.
    private static func picture(_ number: Int) -> [UInt8] {
        Pixels.photograph(width: 48, height: 32, seed: UInt64(number)).png
    }

    private static func version(_ number: Int) -> SourceVersion { SourceVersion(SHA256.digest(of: picture(number))) }

    var result: CacheSuite.Result {
        let seen = book.state.withLock { $0.origin.seen }
        for place in test.requests.indices {
            let asked = seen.first { $0.number == place + 1 }
            if let fault = fault(place, asked) { return .failed("Request \(place + 1) \(fault)") }
        }
        return .passed
    }

    /// - Parameter asked: what its origin got for it.
    private func fault(_ place: Int, _ asked: SuiteOrigin.Seen?) -> String? {
        let (request, number, served) = (test.requests[place], place + 1, served[place])
        let isStored = served.map { $0 < number } ?? false
        switch request["expected_type"] as? String {
        case "cached" where !isStored: return "was not answered by what was stored"
        case "not_cached" where served != number: return "was answered by what was stored"
        case "etag_validated" where !isStored || asked?.value("if-none-match") == nil: return "asked for no tag"
        case "lm_validated" where !isStored || asked?.value("if-modified-since") == nil: return "asked for no date"
        default: break
        }
        if served == nil, !(request["expected_status"] is NSNull) { return "failed" }
        if request["expected_response_headers_missing"] != nil, served != nil { return "was answered" }
        for header in ExpectedHeader.all(of: request) {
            if header.isCount {
                if served.map(String.init) != header.value { return "was answered by \(served ?? 0)" }
            } else if let served, !CachePolicy.fields.contains(header.name) {
                let said = SuiteOrigin.headers(test.requests[served - 1]["response_headers"], at: 0)
                if !said.contains(where: { $0 == (header.name, header.value) }) { return "has another \(header.name)" }
            }
        }
        for expected in request["expected_request_headers"] as? [[String]] ?? [] {
            let value = asked?.value(expected[0].lowercased())
            if value == nil || expected.count > 1 && value != expected[1] { return "has another \(expected[0])" }
        }
        return nil
    }
}

/// The wall's clock stands still.
private struct StillTime: TimeSource {
    let wall: WallTime
    private let system = SystemTimeSource()

    init(wall: WallTime) { self.wall = wall }

    var monotonic: Instant { system.monotonic }
    func sleep(for duration: Duration) async { await system.sleep(for: duration) }
}
