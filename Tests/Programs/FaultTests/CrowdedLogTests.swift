import Foundation
import Glibc
import TestPixels
import TestSupport
import TestWorkplace
import Testing

/// The log, the indexes and the store on one small disk that others fill.
@Suite(
    "A disk that publishers, or others, fill", .timeLimit(.minutes(4)),
    .enabled(if: SmallDisk.canBeMounted, "needs the right to mount a small disk (unshare -m, tmpfs)"))
struct CrowdedLogTests {
    private let place: Workplace
    private let gate = Gate()
    private static let settings = ["log.outcomesKept=8", "log.reserve=4MiB"]

    init() throws { place = try Workplace(Self.settings) }

    /// Jobs for eight pictures, which `jobs` has a line each of; of 7 KB each, if padded.
    private func write(jobs count: Int, gated: Bool, padding: Int = 7_000) throws {
        let pad = String(repeating: "p", count: padding)
        let urls = (0..<8).map { number in
            let picture = LocalOrigin.Answer.bytes(
                Pixels.photograph(width: 60 + number, height: 40, seed: UInt64(number)).png, type: "image/png")
            place.origin.serve("/\(number).png", gated ? .gated(gate, picture) : picture)
            return place.origin.url("/\(number).png?\(pad)")
        }
        let lines = (0..<count).map { "{\"url\":\"\(urls[$0 % 8])\",\"variants\":[\"48x48-q80.webp\"]}\n" }
        try Data(lines.joined().utf8).write(to: place.folder.url.appending(path: "jobs"))
        try Data(lines[0].utf8).write(to: place.folder.url.appending(path: "one"))
    }

    /// Lines of a shell on a disk of its own at `data`, of so many megabytes.
    private func shell(_ megabytes: Int, _ lines: String, worker more: String = "") throws -> RunningProgram {
        let script = """
            worker() { exec \(Built.program("mezzotint-worker").path) \(place.words) \(more) --json "$@"; }
            mezzotint() { command=$1; shift; \(Built.program("mezzotint").path) "$command" \(place.words) "$@"; }
            fill() { while mezzotint publish --json - <jobs >>said 2>>refused; do :; done; }
            choke() { dd if=/dev/zero of=data/filler bs=64k 2>/dev/null; dd if=/dev/zero of=data/filler2 bs=4k 2>/dev/null; df -k data >df; }
            lives() { kill -0 $worker 2>/dev/null; }
            until_there() { while [ ! -e "$1" ]; do sleep 0.05; done; }
            mkdir -p data && mount -t tmpfs -o size=\(megabytes)m none data || exit 99
            \(lines)
            """
        return try RunningProgram("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script], in: place.folder.url)
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: place.folder.url.appending(path: name), encoding: .utf8)
    }

    private func appears(_ name: String, _ shell: RunningProgram) async throws {
        while !FileManager.default.fileExists(atPath: place.folder.file(name)) {
            try #require(shell.isRunning, "\(shell.errors)")
            await Task.yield()
        }
    }

    private func touch(_ name: String) throws { try Data().write(to: place.folder.url.appending(path: name)) }

    private struct Said: Decodable {
        let accepted, rejected: Int
    }

    /// Jobs that `mezzotint publish` said it had accepted.
    private func accepted() throws -> Int {
        try text("said").split(separator: "\n").reduce(0) {
            $0 + (try JSONDecoder().decode(Said.self, from: Data($1.utf8)).accepted)
        }
    }

    @Test(
        "Beside a running worker: publishers are refused while it goes on, and are accepted again once it has made room; also where each job is put off again and again meanwhile",
        arguments: [
            "",
            "retry.attempts=100 fetch.timeouts.dns=1s fetch.timeouts.connect=1s fetch.timeouts.firstByte=1s fetch.timeouts.total=1s",
        ])
    func running(settings: String) async throws {
        try write(jobs: 200, gated: true)
        let shell = try shell(
            28,
            """
            worker & worker=$!
            while lives && [ ! -s data/log/reserve ]; do sleep 0.05; done
            fill; touch full
            until mezzotint publish - <one >/dev/null 2>>refused || ! lives; do sleep 0.2; done
            touch later
            while lives && mezzotint lag --json | grep -q '"records":[1-9]'; do sleep 0.1; done
            while lives && ! [ $(stat -c %b data/log/reserve) -ge 8192 ]; do sleep 0.1; done
            kill -TERM $worker; wait $worker
            """, worker: settings.split(separator: " ").map { "--set \($0)" }.joined(separator: " "))
        try await appears("full", shell)
        let refusal = try text("refused")
        #expect(
            refusal.contains("takes no more jobs: its disk has")
                && refusal.contains("are kept for the worker (log.reserve, and 6 KiB for each job that waits)"))
        #expect(refusal.contains("Nothing that it accepted is lost.") && !refusal.contains("no space left"))
        gate.open()
        let ended = try await shell.ended()
        let summary = try Summary(ended)
        let all = try accepted() + 1
        #expect(all > 300, "enough to fill the disk")
        #expect(
            ended.status == 0 && summary["jobs"] == all && summary["failed"] + summary["dead"] == 0,
            "\(all): \(ended.errors.suffix(2000))")
    }

    @Test("Before a stopped worker: it starts and works all of it off")
    func stopped() async throws {
        try write(jobs: 200, gated: false)
        let ended = try await shell(28, "fill\nworker --until-idle").ended()
        let (summary, all) = (try Summary(ended), try accepted())
        #expect(all > 300, "enough to fill the disk")
        #expect(
            ended.status == 0 && summary["jobs"] == all && summary["failed"] + summary["dead"] == 0,
            "\(all): \(ended.errors.suffix(2000))")
    }

    @Test(
        "Before a stopped worker, and others took the rest of the disk: it works with the reserve; where they take that, too, it takes no more jobs, says so, and goes on when there is room; every job is done once"
    )
    func choked() async throws {
        let thousands = Effort.count(fast: 6, landing: 6, all: 100)
        try write(jobs: 1_000, gated: true, padding: 0)
        let shell = try shell(
            28 + 8 * thousands,
            """
            for round in $(seq \(thousands)); do mezzotint publish --json - <jobs >>said; done
            choke
            worker --until-idle & worker=$!
            until_there begun
            dd if=/dev/zero of=data/filler3 bs=4k 2>/dev/null
            until_there go
            mezzotint lag --json >lag
            mezzotint publish - <one >/dev/null 2>refused
            rm data/filler
            wait $worker; status=$?
            stat -c %b data/log/reserve >held
            exit $status
            """,
            worker: "--set log.outcomesKept=1000000 --set store.directory=\(place.folder.file("elsewhere"))")
        await gate.arrivals(1)
        try touch("begun")
        await shell.says("is nearly full: the worker takes no more jobs")
        #expect(shell.isRunning && shell.errors.contains("log.full"), "\(shell.errors)")
        gate.open()
        try touch("go")
        let ended = try await shell.ended()
        let summary = try Summary(ended)
        #expect(try text("df").split(separator: "\n").last?.split(separator: " ").dropFirst(3).first == "0")
        #expect(try text("lag").contains(/"records":[1-9]/))
        #expect(try text("refused").contains("takes no more jobs: its disk has"))
        #expect(try accepted() == 1_000 * thousands)
        #expect(
            ended.status == 0 && summary["jobs"] == 1_000 * thousands && summary["failed"] + summary["dead"] == 0,
            "\(ended.errors.suffix(2000))")
        #expect(ended.errors.contains("has room again"), "\(ended.errors.suffix(2000))")
        #expect(Int(try text("held").trimmingPrefix { $0 == " " }.prefix { $0.isNumber }) ?? 0 >= 8_192, "4 MiB")
    }

    @Test("Before a stopped worker: jobs that are smaller than what answers them are all worked off")
    func small() async throws {
        try write(jobs: 2_000, gated: false, padding: 0)
        let shell = try shell(28, "fill\nworker --until-idle", worker: "--set log.outcomesKept=100000")
        let ended = try await shell.ended()
        let (summary, all) = (try Summary(ended), try accepted())
        #expect(all > 1_000, "enough to fill the disk")
        #expect(ended.status == 0 && summary["jobs"] == all, "\(all): \(ended.errors.suffix(2000))")
    }

    @Test(
        "By others, with no reserve: a worker that starts says so and waits; it begins when there is room, and ends when told to",
        arguments: [true, false])
    func others(isFreed: Bool) async throws {
        try write(jobs: 16, gated: false)
        let shell = try shell(
            24,
            """
            mezzotint publish --json --set log.reserve=0B - <jobs >said
            rm -f data/log/reserve
            choke
            worker --until-idle & worker=$!
            until_there go
            \(isFreed ? "rm data/filler" : "kill -TERM $worker")
            wait $worker
            """, worker: "--set log.reserve=0B")
        await shell.says("log.full")
        #expect(shell.isRunning && shell.errors.contains("There is no space left for the log"), "\(shell.errors)")
        try touch("go")
        let ended = try await shell.ended()
        let summary = try Summary(ended)
        #expect(try accepted() == 16)
        #expect(ended.status == 0 && summary["jobs"] == (isFreed ? 16 : 0), "\(ended.errors)")
    }

    @Test("The limit of the file: publishers are refused at it, the worker is not, and what it deletes is theirs again")
    func limit() async throws {
        try write(jobs: 400, gated: false)
        let limit = ["--set", "log.byteLimit=6MiB", "--set", "log.reserve=2MiB"]
        func publish() throws -> Ended {
            try place.run(["publish", "--json", "-"] + limit, input: try text("jobs"))
        }
        var total = 0
        for _ in 0..<3 {
            var ended = try publish()
            while ended.status == 0 {
                total += try JSONDecoder().decode(Said.self, from: Data(ended.output.utf8)).accepted
                ended = try publish()
            }
            #expect(
                ended.errors.contains("publishers may fill 4096 KiB (log.byteLimit less log.reserve)"),
                "\(ended.errors)")
            let said = try JSONDecoder().decode(Said.self, from: Data(ended.output.utf8))
            #expect(said.rejected > 0)
            // Some behind it may have found room.
            let line = try #require(ended.errors.firstMatch(of: /Nothing is published from line (\d+) on/)?.1)
            #expect((1...said.accepted + 1).contains(try #require(Int(line))))
            total += said.accepted
            #expect(try await place.work("log.byteLimit=6MiB", "log.reserve=2MiB")["jobs"] == total)
            #expect(total > 100)
            total = 0
        }
    }
}
