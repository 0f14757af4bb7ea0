import Foundation
import ImageModel
import TestPixels
import TestSupport
import TestWorkplace
import Testing

@Suite("A full disk", .timeLimit(.minutes(2)))
struct FullDiskTests {
    /// A worker whose folder `full` is a small disk of its own, filled to the brim until the file `go` is there.
    private func worker(in place: Workplace, _ megabytes: Int, _ setting: String) throws -> RunningProgram {
        let script = """
            mkdir -p data/\(setting) && cp -r data/\(setting) kept && mount -t tmpfs -o size=\(megabytes)m none data/\(setting)
            cp -r kept/. data/\(setting)/ && dd if=/dev/zero of=data/\(setting)/filler bs=4k 2>/dev/null
            \(Built.program("mezzotint-worker").path) \(place.words) --json --until-idle &
            while [ ! -e go ]; do sleep 0.05; done
            rm data/\(setting)/filler
            wait $!; status=$?
            umount data/\(setting) 2>/dev/null
            exit $status
            """
        return try RunningProgram("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script], in: place.folder.url)
    }

    @Test(
        "Of the store or the index: said, and every job is done when there is room again",
        .enabled(if: SmallDisk.canBeMounted, "needs the right to mount a small disk (unshare -m, tmpfs)"),
        arguments: [("store", "store.full", false), ("index", "index.full", true), ("index", "index.full", false)])
    func full(part: String, code: String, isMade: Bool) async throws {
        let place = try Workplace()
        let urls = place.draw(12)
        try place.publish(urls.map { ($0, ["48x48-q80.webp"], .fast) })
        // The index made its files before the disk was full.
        if isMade {
            place.origin.serve(
                "/first.png", .bytes(Pixels.photograph(width: 60, height: 40, seed: 1).png, type: "image/png"))
            try await place.work()
            try place.publish(urls.map { ($0, ["40x40-q80.jpg"], .fast) }, id: "again")
        }
        let worker = try worker(in: place, 4, part)
        await worker.says(code)
        #expect(worker.isRunning, "\(worker.errors)")
        try Data().write(to: place.folder.url.appending(path: "go"))
        let ended = try await worker.ended()
        let summary = try Summary(ended)
        #expect(
            ended.status == 0 && summary["jobs"] == 12 && summary["failed"] == 0 && summary["dead"] == 0,
            "\(ended.errors)")
    }

    @Test(
        "Of the store, before its first folder: the worker waits, and every job is done when there is room",
        .enabled(if: SmallDisk.canBeMounted, "needs the right to mount a small disk (unshare -m, tmpfs)"))
    func first() async throws {
        let place = try Workplace()
        try place.publish(place.draw(3).map { ($0, ["48x48-q80.webp"], .fast) })
        // The disk's own folder is its one inode.
        let script = """
            mkdir -p data/store && mount -t tmpfs -o nr_inodes=1 none data/store
            \(Built.program("mezzotint-worker").path) \(place.words) --json --until-idle &
            while [ ! -e go ]; do sleep 0.05; done
            mount -o remount,nr_inodes=1000 data/store
            wait $!; status=$?
            umount data/store 2>/dev/null
            exit $status
            """
        let worker = try RunningProgram("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script], in: place.folder.url)
        await worker.says("store.full")
        #expect(worker.isRunning, "\(worker.errors)")
        try Data().write(to: place.folder.url.appending(path: "go"))
        let ended = try await worker.ended()
        let summary = try Summary(ended)
        #expect(ended.status == 0 && summary["jobs"] == 3 && summary["failed"] + summary["dead"] == 0, "\(ended.errors)")
    }

    @Test(
        "Of the log, while the worker runs: said, and every job is done once when there is room again",
        .enabled(if: SmallDisk.canBeMounted, "needs the right to mount a small disk (unshare -m, tmpfs)"))
    func log() async throws {
        // Twelve fetches of one host at once.
        let place = try Workplace("fetch.concurrency=128")
        let gate = Gate()
        let urls = (0..<12).map { number in
            let picture = Pixels.photograph(width: 60 + number, height: 40, seed: UInt64(number)).png
            place.origin.serve("/\(number).png", .gated(gate, .bytes(picture, type: "image/png")))
            return place.origin.url("/\(number).png")
        }
        try place.publish(urls.map { ($0, ["48x48-q80.webp"], .fast) })
        let script = """
            cp -r data/log kept && rm -f kept/reserve && mount -t tmpfs -o size=4m none data/log && cp -r kept/. data/log/
            \(Built.program("mezzotint-worker").path) \(place.words) --json --until-idle &
            while [ ! -e fill ]; do sleep 0.05; done
            dd if=/dev/zero of=data/log/filler bs=4k 2>/dev/null
            touch filled
            while [ ! -e go ]; do sleep 0.05; done
            rm data/log/filler
            wait $!; status=$?
            umount data/log 2>/dev/null
            exit $status
            """
        let worker = try RunningProgram("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script], in: place.folder.url)
        await gate.arrivals(12)
        try Data().write(to: place.folder.url.appending(path: "fill"))
        while !FileManager.default.fileExists(atPath: place.folder.file("filled")) { await Task.yield() }
        await worker.says("log.full")
        #expect(worker.isRunning, "\(worker.errors)")
        // The jobs that the worker has may still find room in the WAL.
        gate.open()
        try Data().write(to: place.folder.url.appending(path: "go"))
        let ended = try await worker.ended()
        let summary = try Summary(ended)
        #expect(
            ended.status == 0 && summary["jobs"] == 12 && summary["failed"] == 0 && summary["dead"] == 0,
            "\(ended.errors)")
    }
}
