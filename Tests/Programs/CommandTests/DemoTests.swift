import Foundation
import TestPixels
import TestSupport
import Testing

@Suite("mezzotint-demo", .timeLimit(.minutes(2)))
struct DemoTests {
    @Test("Every variant of a folder's pictures is on the contact sheet, and smaller ones cost no second fetch")
    func whole() throws {
        let folder = try TemporaryFolder()
        let pictures = folder.url.appending(path: "pictures & more")
        try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
        for number in 0..<2 {
            let drawn = Pixels.photograph(width: 400, height: 300, seed: UInt64(number))
            try Data(drawn.png).write(to: pictures.appending(path: "no. \(number).png"))
        }
        try Data("notes".utf8).write(to: pictures.appending(path: "notes.txt"))
        let out = folder.url.appending(path: "out")
        let ended = try Built.run("mezzotint-demo", ["--images", pictures.path, "--out", out.path, "--jobs", "4"])
        #expect(ended.status == 0, "\(ended.errors)")

        #expect(ended.output.contains("2 requests came to the origin for 8 jobs."))

        let sheet = try String(contentsOf: out.appending(path: "index.html"), encoding: .utf8)
        let images = sheet.matches(of: #/<img src="([^"]+)" width="\d+" height="\d+"/#)
        #expect(images.count == 2 * 6)
        for image in images {
            let path = try #require(String(image.1).removingPercentEncoding)
            let size = try FileManager.default.attributesOfItem(atPath: out.appending(path: path).path)[.size] as? Int
            #expect((size ?? 0) > 0)
        }
        #expect(sheet.components(separatedBy: "class=\"fetched\">fetched").count - 1 == 6)
        #expect(sheet.components(separatedBy: "class=\"reused\">reused, from ").count - 1 == 6)
        #expect(sheet.contains("/no.%200.png"))
        #expect(sheet.matches(of: #/<h2>[^<]+ <span>400×300, [^<]+ png, original kept</span>/#).count == 2)
        #expect(sheet.matches(of: #/alt="" style="background: #[0-9a-f]{6}">/#).count == 2 * 6)
        #expect(sheet.matches(of: #/title="ThumbHash [A-Za-z0-9+\/=]{8,}" src="data:image\/bmp;base64,Qk[A-Za-z0-9+\/=]{700,}"/#).count == 2 * 6)
    }

    @Test("A folder that is not there, or has no pictures in it, is named before anything is done")
    func pictures() throws {
        let folder = try TemporaryFolder()
        let missing = try Built.run("mezzotint-demo", ["--images", folder.file("none"), "--out", folder.file("out")])
        #expect(missing.status == 1)
        #expect(missing.errors.contains("\(folder.file("none")) cannot be read"))
        let empty = try Built.run("mezzotint-demo", ["--images", folder.path, "--out", folder.file("out")])
        #expect(empty.status == 1)
        #expect(empty.errors.contains("has no images ("))
        #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
    }

    @Test("A folder that cannot be written is named")
    func output() throws {
        let ended = try Built.run("mezzotint-demo", ["--out", "/proc/none"])
        #expect(ended.status == 1)
        #expect(ended.errors.hasSuffix("mezzotint-demo: The folder /proc/none/demo-data cannot be made. Name another folder by --out.\n"))
    }

    @Test("A broker that does not respond is reported before images are drawn")
    func broker() throws {
        let folder = try TemporaryFolder()
        let ended = try Built.run(
            "mezzotint-demo", ["--out", folder.file("out"), "--kafka", "127.0.0.1:1"],
            environment: ["MEZZOTINT_KAFKA_TIMING_RESPONSE": "1s"])
        #expect(ended.status == 1 && ended.errors.contains("127.0.0.1:1"), "\(ended.errors)")
        #expect(!ended.errors.contains("Drawing"))
    }

    @Test("A run removes what an earlier one left, and nothing that no demo has made")
    func anew() throws {
        let folder = try TemporaryFolder()
        let (pictures, data) = (folder.file("pictures"), folder.url.appending(path: "demo-data"))
        try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        try Data(Pixels.photograph(width: 40, height: 30, seed: 1).png).write(to: URL(filePath: pictures + "/a.png"))
        // What a worker keeps in a project that --out names.
        for name in ["data/log", "demo-data/log"] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
            try Data("jobs".utf8).write(to: folder.url.appending(path: name + "/log.sqlite"))
        }
        let words = ["--images", pictures, "--out", folder.path, "--jobs", "1"]
        let refused = try Built.run("mezzotint-demo", words)
        #expect(refused.status == 1 && refused.errors.contains("demo-data is there, and no demo has made it."))
        #expect(try String(contentsOf: data.appending(path: "log/log.sqlite"), encoding: .utf8) == "jobs")

        try FileManager.default.removeItem(at: data)
        for _ in 0..<2 {
            let ended = try Built.run("mezzotint-demo", words)
            #expect(ended.status == 0 && ended.output.contains("1 requests came"), "\(ended.errors)")
        }
        #expect(try String(contentsOfFile: folder.file("data/log/log.sqlite"), encoding: .utf8) == "jobs")
    }

    @Test("Something that is no number of jobs is wrong usage")
    func jobs() throws {
        #expect(try Built.run("mezzotint-demo", ["--jobs", "0"]).status == 2)
    }
}
