import CommandLine
import Foundation
internal import ImageModel
internal import Images
internal import Ports
import Posix
import RendererPool
import TestPixels
internal import VariantSpec

/// The pictures of the demo's origin: the user's own, or drawn ones.
struct Gallery {
    let folder: URL
    let names: [String]

    private static let suffixes = ["jpg", "jpeg", "png", "webp"]

    static func makeFolder(_ folder: URL) throws {
        do { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) } catch {
            throw DemoFailure("The folder \(folder.path) cannot be made. Name another folder by --out.")
        }
    }

    init(existing folder: URL) throws {
        self.folder = folder
        guard let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
            throw DemoFailure("The folder \(folder.path) cannot be read. Check the path given to --images.")
        }
        names = files.filter { name in Self.suffixes.contains { name.lowercased().hasSuffix(".\($0)") } }.sorted()
        if names.isEmpty {
            throw DemoFailure(
                "\(folder.path) has no images (\(Self.suffixes.joined(separator: ", "))). Name another folder by --images."
            )
        }
    }

    /// Draws `count` pictures into `folder`, except those that an earlier run has left there.
    init(drawing count: Int, into folder: URL, by pool: RendererPool) async throws {
        try Self.makeFolder(folder)
        let plates = (0..<count).map(Plate.init)
        let missing = plates.filter { !FileManager.default.fileExists(atPath: folder.appending(path: $0.name).path) }
        if !missing.isEmpty { Console.complain("Drawing \(missing.count) images into \(folder.path)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, plate) in missing.enumerated() {
                // Drawing needs memory for all of a picture's pixels: no more pictures at once than renderers.
                if number >= pool.configuration.count { try await group.next() }
                group.addTask { try await plate.make(in: folder, by: pool) }
            }
            try await group.waitForAll()
        }
        (self.folder, names) = (folder, plates.map(\.name))
    }
}

/// One picture to draw: its size, its format, its seed.
private struct Plate: Sendable {
    let name: String
    private let size: PixelSize
    private let spec: VariantSpec
    private let seed: UInt64

    init(_ number: Int) {
        let sizes = [(3000, 2000), (2000, 3000), (3600, 2025), (2600, 2600), (4000, 1500)]
        let format: ImageFormat = number % 8 == 3 ? .png : number % 8 == 6 ? .webp : .jpeg
        // A PNG of several megapixels with grain would take twenty megabytes.
        let (width, height) = format == .png ? (1400, 1000) : sizes[number % sizes.count]
        size = PixelSize(width: width, height: height)
        spec = VariantSpec(width: 0, height: 0, quality: [88, 80, 92][number % 3], format: format)
        name = String(number + 1001).dropFirst() + "." + format.suffix
        seed = UInt64(number)
    }

    func make(in folder: URL, by pool: RendererPool) async throws {
        let drawn = try OpenFile(anonymous: "drawn")
        let scene = Scene(width: size.width, height: size.height, seed: seed)
        let rows = (0..<size.height).flatMap(scene.row)
        let pixels = Pixels(width: size.width, height: size.height, channels: 3, bytes: rows)
        try pixels.png.withUnsafeBytes { try drawn.append($0) }
        let picture = try await pool.inspect(drawn)
        let order = RenderOrder(spec: spec, output: size, crop: Region(whole: size))
        let made = try await pool.render(picture, [order], isReuse: false)
        try Data(made[0].content.bytes()).write(to: folder.appending(path: name), options: .atomic)
    }
}
