internal import Foundation
internal import Images
internal import Ports
internal import Posix
import RenderProtocol
internal import RendererPool
internal import TestPixels
import TestSupport
internal import Testing
internal import VariantSpec

@Suite("Pictures: nothing but pixels comes out, whatever went in", .timeLimit(.minutes(2)))
struct MetadataTests {
    /// Each has all the metadata that its format can hold, with `secret` in it.
    enum Source: String, CaseIterable {
        case jpeg, png, webp, gif, tiff
    }
    private static let outputs: [ImageFormat] = [.jpeg, .png, .webp, .avif, .gif]
    private static let pixels = Pixels.photograph(width: 120, height: 80, seed: 3)
    /// Of four letters or more: shorter ones stand in compressed pixels by chance.
    private static let told = [
        "Exif", "eXIf", "EXIF", "secret", "xmpmeta", "xpacket", "XMP ", "XMP Data", "mime", "Photoshop", "8BIM", "tEXt",
        "iTXt", "zTXt", "libvips",
    ]
    private static let profiles = ["acsp", "iCCP", "ICCP", "ICC_PROFILE", "prof", "rICC"]

    /// Seen to fail where AVIFs keep a profile: libvips adds EXIF to them.
    @Test(
        "No EXIF, XMP, IPTC or comment in any format, moving or still, with and without the profile",
        arguments: Source.allCases, ["", "-profile", "-bg102030"])
    func bare(source: Source, option: String) async throws {
        let file = try Workshop.file(try await Self.bytes(source))
        for format in Self.outputs {
            // Whole and reduced: they go different ways.
            for size in ["full", "60x60"] {
                let made = try await Workshop.make(
                    "\(size)\(option).\(format.suffix)", of: file, in: Workshop.everything)
                let bytes = try made.content.bytes()
                for text in Self.told { #expect(!Self.contains(bytes, text), "\(text) in \(format) of \(source)") }
                let keeps = option == "-profile" && format.holdsProfile && source != .gif
                #expect(Self.profiles.contains { Self.contains(bytes, $0) } == keeps, "\(format) of \(source)")
                if format == .gif { #expect(Self.extensions(bytes).isSubset(of: ["f9", "ff NETSCAPE2.0"])) }
                #expect(try await Workshop.pixels(of: bytes).width == made.size.width)
            }
        }
    }

    @Test(
        "Nor from real cameras' files, with and without the profile",
        .enabled(if: Shared.has("images/photos") && Shared.has("images/formats"), Comment(rawValue: Shared.absent)))
    func real() async throws {
        let odd = ["exif-at-eof.heic", "cheers-1440x960.heic", "gain-map.jpg", "p3.png", "8bit-depth.tiff", "4.webp"]
        let files = Shared.pictures("photos").prefix(12) + odd.compactMap { Shared.part("images/formats/\($0)") }
        #expect(files.count == 12 + odd.count)
        // Some of them say whose they are.
        var configuration = Workshop.configuration(count: 1)
        (configuration.limits.formats, configuration.keepsRights) = (Set(ImageFormat.allCases), false)
        let bare = RendererPool(configuration)
        for url in files {
            let file = try Workshop.file(url)
            for format in Self.outputs {
                for option in ["", "-profile"] {
                    let made = try await Workshop.make("60x60\(option).\(format.suffix)", of: file, in: bare)
                    let bytes = try made.content.bytes()
                    for text in Self.told { #expect(!Self.contains(bytes, text), "\(text): \(url.lastPathComponent)") }
                    if option.isEmpty { #expect(!Self.profiles.contains { Self.contains(bytes, $0) }) }
                }
            }
        }
        await bare.stop()
    }

    /// One of them has `KCTPS13111021` as its serial number.
    @Test(
        "Of real cameras' files the credit alone is kept by default: no place, thumbnail, maker's note, number or other name",
        .enabled(if: Shared.has("images/photos") && Shared.has("images/formats"), Comment(rawValue: Shared.absent)))
    func credit() async throws {
        let odd = [
            "exif-at-eof.heic", "avif-orientation-6.avif", "gain-map.jpg", "channel-digital-image-cmyk-color.jpg",
        ]
        let files = Shared.pictures("photos") + odd.compactMap { Shared.part("images/formats/\($0)") }
        let carriers = ["xmpmeta", "XMP ", "XMP Data", "mime", "iTXt"]
        let personal = Self.told + ["GPSL", "KCTPS", "Serial", "OwnerName", "PersonIn", "MakerNote"]
        var signed: [String] = []
        for url in files {
            let file = try Workshop.file(url)
            let rights = try await Workshop.everything.inspect(file).facts.rights
            if !rights.isEmpty { signed.append(url.lastPathComponent) }
            for format in Self.outputs {
                let made = try await Workshop.make("60x60.\(format.suffix)", of: file, in: Workshop.everything)
                var bytes = try made.content.bytes()
                if let packet = rights.packet {
                    let place = try #require(bytes.firstRange(of: packet), "\(format) of \(url.lastPathComponent)")
                    bytes.removeSubrange(place)
                }
                for text in personal where rights.isEmpty || !carriers.contains(text) {
                    #expect(!Self.contains(bytes, text), "\(text) in \(format) of \(url.lastPathComponent)")
                }
            }
        }
        #expect(signed.contains("fujifilm-dx-10.jpg") && signed.contains("samsung-s730.jpg") && signed.count < 20)
    }

    @Test(
        "EXIF of an AVIF and a HEIC says whose they are, and nothing else of it comes out", arguments: ["avif", "heic"])
    func exif(suffix: String) async throws {
        let file = try Workshop.file(ColourTests.references.appending(path: "rights.\(suffix)"))
        let rights = PictureRights(creator: "Ada Byron", notice: "Copyright Example & Sons")
        for format in Self.outputs {
            let made = try await Workshop.make("full.\(format.suffix)", of: file, in: Workshop.everything)
            try await Self.check(made, format, rights, in: Workshop.everything)
        }
    }

    private static let rights = PictureRights(
        creator: "Ada", credit: "Agency", notice: "© Example & Sons",
        sourceType: "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia")
    /// A still with transparency, and what moves; both say whose they are, and both have a secret.
    private static func signed(isMoving: Bool) throws -> [UInt8] {
        let secret = "<rdf:Description xmlns:exif='http://ns.adobe.com/exif/1.0/' exif:GPSLatitude='secret'/></rdf:RDF>"
        let packet = try #require(rights.packet)
        let xmp = Array(String(decoding: packet, as: UTF8.self).replacing("</rdf:RDF>", with: secret).utf8)
        if isMoving {
            let gif = Sources.gif(width: 80, height: 60, colours: [[200, 0, 0], [0, 200, 0]], delays: [10, 20])
            return gif.dropLast() + [0x21, 0xff, 11] + Array("XMP DataXMP".utf8) + xmp + [1]
                + (0...255).reversed().map { UInt8($0) } + [0, 0x3b]
        }
        var clear = pixels
        for place in stride(from: 3, to: clear.bytes.count / 2, by: clear.channels) where clear.channels == 4 {
            clear.bytes[place] = 0
        }
        return Sources.png(clear, with: [Pixels.chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + xmp)])
    }

    @Test(
        "Each variant says whose its source is, in every format, by both engines, moving, reduced, and made from a donor; and nothing else of its metadata",
        arguments: [false, true], ["", "-profile", "-upto9000"])
    func signed(isMoving: Bool, option: String) async throws {
        let file = try Workshop.file(try Self.signed(isMoving: isMoving))
        for pool in [Workshop.everything, Workshop.libvips] {
            for format in Self.outputs where format.hasQuality || option != "-upto9000" {
                for size in ["full", "60x60"] {
                    let made = try await Workshop.make("\(size)\(option).\(format.suffix)", of: file, in: pool)
                    try await Self.check(made, format, Self.rights, in: pool)
                    // Its pixels are those without.
                    let donor = try await Workshop.make(
                        "30x30.\(format.suffix)", of: try Workshop.file(try made.content.bytes()), in: pool,
                        isReuse: true)
                    try await Self.check(donor, format, Self.rights, in: pool)
                }
            }
        }
    }

    private static func check(
        _ made: RenderedVariant, _ format: ImageFormat, _ rights: PictureRights, in pool: RendererPool
    ) async throws {
        let bytes = try made.content.bytes()
        #expect(!contains(bytes, "secret") && !contains(bytes, "GPS"))
        let picture = try await pool.inspect(try Workshop.file(bytes))
        #expect(picture.facts.rights == rights, "\(format)")
        #expect(picture.facts.size == made.size && !picture.facts.isTruncated)
        #expect(try await Workshop.pixels(of: bytes).width == made.size.width)
    }

    @Test("An AVIF that keeps its profile keeps its transparency, and is the picture that it was")
    func avif() async throws {
        var pixels = Sources.flat([20, 160, 30, 255], width: 64, height: 48)
        for y in 0..<48 { for x in 32..<64 { pixels.bytes[(y * 64 + x) * 4 + 3] = 0 } }
        let file = try Workshop.file(Sources.png(pixels, with: [Sources.profileChunk(Sources.exchangedProfile)]))
        let made = try await Workshop.make("full-q90-profile.avif", of: file)
        let read = try await Workshop.pixels(of: try made.content.bytes())
        #expect(made.hasAlpha && read.channels == 4)
        // Red and green are exchanged by the profile, which only that tells.
        let plain = try await Workshop.pixels(of: try await Workshop.make("full.png", of: file).content.bytes())
        for channel in 0..<3 { #expect(abs(Int(read[10, 10, channel]) - Int(plain[10, 10, channel])) < 9) }
        #expect(read[10, 10, 3] == 255 && read[50, 10, 3] == 0)
    }

    private static func bytes(_ source: Source) async throws -> [UInt8] {
        let xmp = Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'>secret</x:xmpmeta>".utf8)
        switch source {
        case .jpeg:
            let made = try await Workshop.make("full-q95.jpg", of: try Workshop.file(pixels.png))
            return Sources.tagged(Sources.photographed(try made.content.bytes()), Sources.exchangedProfile)
        case .png:
            return Sources.png(
                pixels,
                with: [
                    Sources.profileChunk(Sources.exchangedProfile), Pixels.chunk("eXIf", Sources.tiff(orientation: 1)),
                    Pixels.chunk("tEXt", Array("Comment\0secret".utf8)),
                    Pixels.chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + xmp),
                ])
        case .webp:
            let made = try await Workshop.make("full-q95.webp", of: try Workshop.file(pixels.png))
            return Sources.webp(
                try made.content.bytes(), pixels, profile: Sources.exchangedProfile,
                chunks: [("EXIF", Sources.tiff(orientation: 1)), ("XMP ", xmp)])
        case .gif:
            let gif = Sources.gif(width: 80, height: 60, colours: [[200, 0, 0], [0, 200, 0]], delays: [10, 20])
            let comment: [UInt8] = [0x21, 0xfe, 6] + Array("secret".utf8) + [0]
            let application: [UInt8] = [0x21, 0xff, 11] + Array("XMP DataXMP".utf8) + [UInt8(xmp.count)] + xmp + [0]
            let start = 13 + 3 * 128
            return Array(gif[..<start]) + comment + application + Array(gif[start...])
        case .tiff:
            return Sources.tiff(
                of: pixels, kind: 2, description: "secret", xmp: xmp, profile: Sources.exchangedProfile)
        }
    }

    /// Labels of a GIF's extensions, those of applications with their names.
    private static func extensions(_ gif: [UInt8]) -> Set<String> {
        var (found, offset): (Set<String>, Int) = ([], 13)
        func table(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
        offset += table(gif[10])
        while offset < gif.count, gif[offset] != 0x3b {
            if gif[offset] == 0x21 {
                let label = String(gif[offset + 1], radix: 16)
                found.insert(
                    label == "ff" ? "ff " + String(decoding: gif[offset + 3..<offset + 14], as: UTF8.self) : label)
                offset += 2
            } else {
                offset += 11 + table(gif[offset + 9])
            }
            while gif[offset] != 0 { offset += 1 + Int(gif[offset]) }
            offset += 1
        }
        return found
    }

    private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        let pattern = Array(text.utf8)
        return bytes.indices.contains { bytes[$0] == pattern[0] && bytes[$0...].starts(with: pattern) }
    }
}
