import EmbeddedLog
import Foundation
import Glibc
import ImageModel
import Ports
import Records
import SQLite
import TestPixels
import TestSupport
import TestWorkplace
import Testing

@Suite("Backups of the embedded log, and copies that are only read", .timeLimit(.minutes(2)))
struct BackupTests {
    private static let variants = ["32x32-q80.webp"]

    @Test(
        "A backup that is made while a worker runs starts when restored, and has every job that was accepted before it")
    func backup() async throws {
        let place = try Workplace()
        let done = place.draw(12)
        let gate = Gate()
        let picture = Pixels.photograph(width: 60, height: 40, seed: 1).png
        let held = (0..<6).map { "/held-\($0).png" }
        for path in held { place.origin.serve(path, .gated(gate, .bytes(picture, type: "image/png"))) }
        try place.publish(done.map { ($0, Self.variants, .fast) }, id: "done")
        try place.publish(held.map { (place.origin.url($0), Self.variants, .fast) }, id: "held")
        let worker = try place.worker(untilIdle: false)
        try await eventually { try await place.outcomes().count == done.count }

        let made = try place.run("log", "backup", "backup.sqlite")
        #expect(made.status == 0, "\(made.errors)")
        for named in ["data/store", "data/originals", ".identity", "To restore:", "mode 0700"] {
            #expect(made.output.contains(named), "\(made.output)")
        }
        let backup = place.folder.file("backup.sqlite")
        #expect(try FileManager.default.attributesOfItem(atPath: backup)[.posixPermissions] as? Int == 0o600)
        let before = try Data(contentsOf: URL(filePath: backup))
        let again = try place.run("log", "backup", "backup.sqlite")
        #expect(again.status == 1 && again.errors.contains("backup.sqlite exists, and a backup replaces no file."))
        #expect(try Data(contentsOf: URL(filePath: backup)) == before)
        let nowhere = try place.run("log", "backup", "nowhere/backup.sqlite")
        #expect(nowhere.status == 1 && nowhere.errors.contains("the folder nowhere/ does not exist"))
        let inside = try place.run("log", "backup", "data/log/backup.sqlite")
        #expect(inside.status == 1 && inside.errors.contains("would be in the log's own folder"), "\(inside.errors)")

        try place.publish([(place.origin.url("/late.png"), Self.variants, .fast)], id: "late")
        gate.open()
        worker.signal(SIGKILL)
        _ = try await worker.ended()

        // A new data folder of the backup and the store; no index, no WAL.
        try FileManager.default.createDirectory(
            atPath: place.folder.file("restored/log"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: backup, toPath: place.folder.file("restored/log/log.sqlite"))
        for folder in ["store", "originals"]
        where FileManager.default.fileExists(atPath: place.folder.file("data/\(folder)")) {
            try FileManager.default.copyItem(
                atPath: place.folder.file("data/\(folder)"), toPath: place.folder.file("restored/\(folder)"))
        }
        let requests = done.indices.map { place.origin.requests(of: "/\($0).png") }
        try await place.work("data=restored")
        let log = try EmbeddedLog(place.folder.file("restored/log"))
        var outcomes: [OutcomeReport] = []
        for partition in log.partitions {
            outcomes += try await log.read(.outcomes, partition, from: 0, limit: 1_000).map { try OutcomeReport($0) }
        }
        await log.close()
        let expected = done.indices.map { "done-\($0)" } + held.indices.map { "held-\($0)" }
        #expect(outcomes.map(\.job).sorted() == expected.sorted())
        #expect(outcomes.allSatisfy { $0.kind == .stored })
        #expect(
            done.indices.map { place.origin.requests(of: "/\($0).png") } == requests, "finished jobs are not repeated")
    }

    private static let canMount = SmallDisk.canBeMounted
    private static let needs: Comment = "needs the right to mount (unshare -m)"

    /// What is printed of a copy of the data folder on a read-only file system.
    private static func readOnly(_ place: Workplace, _ words: String...) async throws -> Ended {
        let script = """
            mount --bind copy copy && mount -o remount,ro,bind copy
            \(Built.program("mezzotint").path) \(place.words) --set data=copy \(words.joined(separator: " "))
            """
        return try await RunningProgram("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script], in: place.folder.url)
            .ended()
    }

    /// The same in a folder that nobody may write, for a user whom its rights bind.
    private static func lagInReadOnlyFolder(_ place: Workplace) async throws -> Ended {
        let script = """
            chmod -R a-w copy
            setpriv --bounding-set=-dac_override --inh-caps=-dac_override \
                \(Built.program("mezzotint").path) \(place.words) --set data=copy lag
            status=$?; chmod -R u+w copy; exit $status
            """
        return try await RunningProgram("/bin/sh", ["-c", script], in: place.folder.url).ended()
    }

    enum CopiedLog: Sendable, CaseIterable {
        case withWAL, backup
        /// `log.sqlite` alone, after a checkpoint: in WAL mode, and without a WAL.
        case fileAlone
    }

    @Test(
        "lag, variants, origins and dead read a copy on a read-only file system, with its WAL or without one",
        .enabled(if: canMount, needs), arguments: CopiedLog.allCases)
    func readOnlyCopy(kind: CopiedLog) async throws {
        let hasWAL = kind == .withWAL
        let place = try Workplace()
        let urls = place.draw(3)
        try place.publish(urls.map { ($0, Self.variants, .fast) })
        try await place.work()
        try place.publish(urls.map { ($0, ["16x16.png"], .slow) }, id: "waiting")
        try FileManager.default.copyItem(atPath: place.folder.file("data"), toPath: place.folder.file("copy"))
        switch kind {
        case .withWAL: break
        case .fileAlone:
            let log = try Connection(place.folder.file("copy/log/log.sqlite"), .create)
            // Before a first reading SQLite knows of no WAL.
            _ = try log.number("PRAGMA user_version")
            try log.checkpoint(.truncate)
            let wal = place.folder.file("copy/log/log.sqlite-wal")
            if FileManager.default.fileExists(atPath: wal) { try FileManager.default.removeItem(atPath: wal) }
        case .backup:
            for name in ["log.sqlite", "log.sqlite-wal"] {
                try FileManager.default.removeItem(atPath: place.folder.file("copy/log/\(name)"))
            }
            #expect(try place.run("log", "backup", "copy/log/log.sqlite").status == 0)
        }
        let shared = place.folder.file("copy/log/log.sqlite-shm")
        if FileManager.default.fileExists(atPath: shared) { try FileManager.default.removeItem(atPath: shared) }
        let wal = try? FileManager.default.attributesOfItem(atPath: place.folder.file("copy/log/log.sqlite-wal"))
        #expect((wal?[.size] as? Int ?? 0 > 0) == hasWAL, "what is waiting is in the WAL alone")

        let lag = try await Self.readOnly(place, "lag")
        #expect(lag.status == 0 && lag.errors.isEmpty, "\(lag.errors)")
        #expect(lag.output.contains(#/jobs\.slow +all +3 /#), "\(lag.output)")
        let variants = try await Self.readOnly(place, "variants", urls[0])
        #expect(variants.status == 0 && variants.output.contains(Self.variants[0]), "\(variants.errors)")
        for words in [["origins"], ["dead", "list"]] {
            let ended = try await Self.readOnly(place, words.joined(separator: " "))
            #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended.errors)")
        }
        let refused = try await Self.readOnly(place, "dead", "discard", "--all")
        #expect(refused.status == 1 && refused.errors.contains("Read-only file system"), "\(refused.errors)")
        if kind == .fileAlone {
            let ended = try await Self.lagInReadOnlyFolder(place)
            #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended.errors)")
            #expect(ended.output.contains(#/jobs\.slow +all +3 /#), "\(ended.output)")
        }
        if kind != .backup { try await Self.writtenLater(place, urls) }
    }

    /// The same folder is written where it is not read-only: who began to read it before sees that.
    private static func writtenLater(_ place: Workplace, _ urls: [String]) async throws {
        let jobs = place.folder.file("later.txt")
        try Data("\(urls[0])\n\(urls[1])\n".utf8).write(to: URL(filePath: jobs))
        let program = Built.program("mezzotint").path
        let script = """
            mkdir seen; mount --bind copy seen && mount -o remount,ro,bind seen
            \(program) lag --watch \(place.words) --set data=seen > watched.txt &
            for turn in $(seq 1 100); do grep -q 'jobs.slow  *all  *3 ' watched.txt && break; sleep 0.1; done
            \(program) publish --lane slow --variants 24x24.png \(place.words) --set data=copy - < later.txt > /dev/null
            for turn in $(seq 1 100); do grep -q 'jobs.slow  *all  *5 ' watched.txt && break; sleep 0.1; done
            kill $!; grep -c 'jobs.slow  *all  *5 ' watched.txt
            """
        let watched = try await RunningProgram(
            "/usr/bin/unshare", ["-m", "/bin/sh", "-c", script], in: place.folder.url
        ).ended()
        #expect(watched.status == 0, "\(watched.output) \(watched.errors)")
    }
}
