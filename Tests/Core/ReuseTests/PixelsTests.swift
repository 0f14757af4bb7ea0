import Foundation
import TestPixels
import TestSupport
import Testing

@Suite("The tests' own reader of pictures", .timeLimit(.minutes(1)))
struct PixelsTests {
    @Test("What is written is read back")
    func roundTrip() {
        let picture = Pixels.photograph(width: 301, height: 203, seed: 1)
        #expect(Pixels(png: picture.png) == picture)
    }

    @Test(
        "Real PNG files of 8 bits are read to the last row",
        .enabled(if: Shared.has("images/pngsuite"), Comment(rawValue: Shared.absent)))
    func real() throws {
        let files = Shared.pictures("pngsuite").filter {
            $0.lastPathComponent.wholeMatch(of: /(basn[0246]|f0[0-9]n[02])[a-z0-9]*08\.png/) != nil
        }
        #expect(!files.isEmpty)
        for file in files {
            let bytes = [UInt8](try Data(contentsOf: file))
            guard bytes[25] != 3 else { continue }
            let picture = try #require(Pixels(png: bytes), "\(file.lastPathComponent)")
            #expect(Pixels(png: picture.png) == picture)
        }
    }

    @Test("A map tells which part of it is shown")
    func place() {
        let map = Pixels.map(width: 500, height: 400)
        let all = zip(map.place(onMap: 500, 400), [0, 0, 500, 400] as [Double])
        #expect(all.allSatisfy { abs($0 - $1) < 0.2 })
        let part = Pixels(width: 500, height: 100, channels: 3, bytes: Array(map.bytes[500 * 3 * 200..<500 * 3 * 300]))
        #expect(zip(part.place(onMap: 500, 400), [0, 200, 500, 300] as [Double]).allSatisfy { abs($0 - $1) < 0.5 })
    }

    @Test("A picture differs least from itself where it is not moved")
    func moved() {
        let picture = Pixels.photograph(width: 200, height: 150, seed: 2)
        #expect(picture.difference(from: picture) == 0)
        for move in [(1, 0), (0, 1), (-1, 0), (0, -1)] {
            #expect(picture.difference(from: picture, movedBy: move)! > 3)
        }
    }
}
