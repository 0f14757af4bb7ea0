internal import CommandLine
internal import Foundation
internal import TestPixels

/// `mezzotint-bench drawings`: writes the twenty text and line drawings that are scored, next to photographs.
enum DrawingsCommand {
    static let size = (width: 1920, height: 1440)

    static let command = Command(
        "drawings", abstract: "Writes twenty text and line drawings as PNG, the same in each run.",
        examples: ["mezzotint-bench drawings --to DIR"],
        options: [Option("to", value: "dir", help: "The directory to write them into.")],
        // A step of other commands: `render` draws its own.
        isHidden: true
    ) { arguments in
        guard let folder = arguments.value("to") else { throw UsageError("--to names the directory to write into.") }
        Console.print("\(try write(to: URL(filePath: folder)).count) drawings in \(folder)")
        return .success
    }

    /// Writes the files; returns them by number.
    static func write(to folder: URL) throws -> [URL] {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return try (0..<Drawing.count).map { number in
            let kind = Drawing.Kind.of(number)
            let file = folder.appending(path: "\(number < 10 ? "0" : "")\(number)-\(kind).png")
            try Data(Drawing.numbered(number, width: size.width, height: size.height).png).write(to: file)
            return file
        }
    }
}
