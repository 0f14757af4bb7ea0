internal import Foundation
import TestSupport
internal import Testing

@testable internal import ImageHeaders
@testable internal import RenderKit

@Suite("An AVIF's container, less what tells of how it came to be", .timeLimit(.minutes(1)))
struct HEIFContainerTests {
    /// 24 × 16 pixels with transparency and a profile, by libvips 8.14.1 and libheif 1.15.1, and the EXIF that they add.
    private let real: [UInt8]

    init() throws {
        let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")
        real = Array(try Data(contentsOf: corpus.appending(path: "exif.avif")))
    }

    @Test("A real one loses its EXIF, and what stays is what and where it says")
    func bare() throws {
        let bare = HEIFContainer.bare(real)
        #expect(find("Exif", in: real) != nil && find("Exif", in: bare) == nil && find("rICC", in: bare) != nil)
        // The name, the place, the reference and its own 190 bytes.
        #expect(bare.count == real.count - 21 - 18 - 14 - 190)
        // Both items' bytes, each at the place that its entry names: the first opens the box, the second follows it.
        let (before, after) = (try #require(find("mdat", in: real)) + 4, try #require(find("mdat", in: bare)) + 4)
        #expect(bare[after...] == real[before..<before + 25 + 46])
        let places = try #require(find("iloc", in: bare))
        #expect(number(bare, places + 10, 2) == 2)
        #expect(number(bare, places + 22, 4) == after && number(bare, places + 26, 4) == 25)
        #expect(number(bare, places + 40, 4) == after + 25 && number(bare, places + 44, 4) == 46)
        #expect(HEIFContainer.bare(bare) == bare)
    }

    @Test("One that is cut anywhere comes back as it was")
    func cut() {
        for count in real.indices { #expect(HEIFContainer.bare(Array(real[..<count])) == Array(real[..<count])) }
    }

    /// Seen to end the renderer, which looked for a box in fewer than eight bytes.
    @Test("A list of properties may end in bytes that are no box", arguments: 1..<8)
    func rest(count: Int) throws {
        var file = real
        let list = try #require(find("ipco", in: file)) - 4
        file.insert(
            contentsOf: [UInt8](repeating: 0, count: count), at: list + number(file, list, 4))
        for name in ["ipco", "iprp", "meta"] {
            let place = try #require(find(name, in: file)) - 4
            file.replaceSubrange(place..<place + 4, with: Samples.big(number(file, place, 4) + count, 4))
        }
        #expect(file.withUnsafeBytes { HEIFRepair.repaired($0) } == nil)
        #expect(file.withUnsafeBytes { !HEIFPixels($0).isLimitedGrey })
    }

    /// A trap would end the whole test run, so that reaching the end is the proof.
    @Test("Whatever is changed in it: what is not understood comes back as it was, and what is, without what told")
    func changed() {
        var random = SeededRandom(seed: 13)
        var (untouched, stripped) = (0, 0)
        let structure = (find("colr", in: real) ?? 0) - 4
        for _ in 0..<8_000 {
            var file = real
            for _ in 0..<1 + random.next() % 4 {
                // Mostly among the boxes before the profile and behind it: pixels mean nothing here.
                let place = Int(random.next() % 4 == 0 ? random.next() % UInt64(file.count) : random.next() % UInt64(structure))
                switch random.next() % 4 {
                case 0: file[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: file[place] = [0, 1, 0x0c, 0x7f, 0x80, 0xff][Int(random.next() % 6)]
                case 2: file.removeSubrange(place..<min(file.count, place + Int(random.next() % 5)))
                default: file[place] &+= 1
                }
            }
            let bare = HEIFContainer.bare(file)
            if bare == file {
                untouched += 1
            } else {
                stripped += 1
                #expect(bare.count < file.count && HEIFContainer.bare(bare) == bare)
            }
        }
        #expect(untouched > 500 && stripped > 500, "\(untouched), \(stripped)")
    }

    /// Items 1, the pixels, and 2, the EXIF; eight bytes behind `mdat`'s header.
    private static func file(
        extents: [[(offset: Int, length: Int)]] = [[(0, 4)], [(4, 4)]], references: [UInt8]? = [0, 0, 0, 0],
        hasData: Bool = true
    ) -> [UInt8] {
        let big = Samples.big
        func box(_ type: String, _ content: [UInt8]) -> [UInt8] { big(content.count + 8, 4) + Array(type.utf8) + content }
        func name(_ id: Int, _ type: String) -> [UInt8] { box("infe", [2, 0, 0, 0] + big(id, 2) + [0, 0] + Array(type.utf8) + [0]) }
        func meta(_ start: Int) -> [UInt8] {
            var places: [UInt8] = [0, 0, 0, 0, 0x44, 0x40] + big(extents.count, 2)
            for (index, item) in extents.enumerated() {
                places += big(index + 1, 2) + big(0, 6) + big(item.count, 2)
                for extent in item { places += big(start + extent.offset, 4) + big(extent.length, 4) }
            }
            let names = box("iinf", [0, 0, 0, 0, 0, 2] + name(1, "av01") + name(2, "Exif"))
            return box("meta", [0, 0, 0, 0] + box("iloc", places) + names + (references.map { box("iref", $0) } ?? []))
        }
        let start = 12 + meta(0).count + 8
        return box("ftyp", Array("avif".utf8)) + meta(start) + (hasData ? box("mdat", [1, 2, 3, 4, 5, 6, 7, 8]) : [])
    }

    @Test("One made here is understood: the oddities below are nothing but odd")
    func plain() {
        for file in [Self.file(), Self.file(references: nil), Self.file(extents: [[(0, 2), (6, 2)], [(2, 1), (4, 2)]])] {
            let bare = HEIFContainer.bare(file)
            #expect(bare.count < file.count && find("Exif", in: bare) == nil)
        }
        #expect(HEIFContainer.bare(Self.file(extents: [[(0, 2), (6, 2)], [(2, 1), (4, 2)]])).suffix(9) == Array("mdat".utf8) + [1, 2, 4, 7, 8])
    }

    @Test("What lies over each other or ends early is not touched", arguments: [
        ("extents of one item over each other", file(extents: [[(0, 4)], [(4, 3), (6, 2)]])),
        ("the pixels within the EXIF", file(extents: [[(5, 1)], [(4, 4)]])),
        ("both the same", file(extents: [[(4, 4)], [(4, 4)]])),
        ("over the box's end", file(extents: [[(0, 4)], [(4, 5)]])),
        ("in the box's header", file(extents: [[(0, 4)], [(-4, 4)]])),
        ("references without a version", file(references: [])),
        ("references that end within it", file(references: [0, 0, 0])),
        ("references of another version", file(references: [1, 0, 0, 0])),
        ("a reference from nowhere", file(references: [0, 0, 0, 0, 0, 0, 0, 8, 0x63, 0x64, 0x73, 0x63])),
        ("a reference to nothing", file(references: [0, 0, 0, 0, 0, 0, 0, 12, 0x63, 0x64, 0x73, 0x63, 0, 2, 0, 0])),
        ("references to the file's end", file(extents: [[], []], references: [0, 0, 0], hasData: false)),
        ("a reference at the file's end", file(extents: [[], []], references: [0, 0, 0, 0, 0, 0, 0, 8, 0x63, 0x64, 0x73, 0x63], hasData: false)),
    ] as [(String, [UInt8])])
    func odd(what: String, file: [UInt8]) { #expect(HEIFContainer.bare(file) == file, "\(what)") }

    private func find(_ text: String, in bytes: [UInt8]) -> Int? {
        let pattern = Array(text.utf8)
        return bytes.indices.first { bytes[$0...].starts(with: pattern) }
    }

    private func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int {
        bytes[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
    }
}
