import Foundation
import TestPixels
import TestSupport
import Testing

extension ClusterTests {
    @Test("The demo runs on a broker with two workers, and leaves no topics and no group there")
    func demo() async throws {
        let broker = try await KafkaBroker.shared.value
        let folder = try TemporaryFolder()
        let pictures = folder.url.appending(path: "pictures")
        try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
        for number in 0..<4 {
            let drawn = Pixels.photograph(width: 400, height: 300, seed: UInt64(number))
            try Data(drawn.png).write(to: pictures.appending(path: "\(number).png"))
        }
        let words = ["--kafka", broker.bootstrap, "--images", pictures.path, "--out", folder.file("out")]
        let ended = try Built.run("mezzotint-demo", words)
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.output.contains("4 requests came to the origin for 16 jobs."), "\(ended.output)")
        let sheet = try String(contentsOf: folder.url.appending(path: "out/index.html"), encoding: .utf8)
        #expect(sheet.matches(of: #/<img src="([^"]+)" width="\d+" height="\d+"/#).count == 4 * 6)
        try await eventually { try await !broker.tool("topics", "--list").contains("mezzotint-demo-") }
        #expect(try await !broker.tool("groups", "--list").contains("mezzotint-demo-"))
    }
}
