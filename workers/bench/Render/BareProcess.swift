internal import Clocks
internal import CommandLine
internal import Foundation
internal import Posix
internal import VariantSpec

/// The hidden `bare FORMAT,… PART PARTS OUT FILE…`: libvips in a bare loop over every PARTS-th file, in a process of
/// its own for `BareEngine`.
enum BareProcess {
    static func run(_ words: [String]) -> Never {
        let formats = (words.first ?? "").split(separator: ",").compactMap { ImageFormat(rawValue: String($0)) }
        guard words.count > 4, !formats.isEmpty, let part = Int(words[1]), let parts = Int(words[2]), parts > 0 else {
            Console.complain("usage: mezzotint-bench bare FORMAT,… PART PARTS OUT FILE…")
            exit(2)
        }
        do {
            try BareLibvips.start(formats)
            let files = try words[4...].enumerated().filter { $0.offset % parts == part }.map { _, path in
                (URL(filePath: path), [UInt8](try Data(contentsOf: URL(filePath: path))))
            }
            Console.write("ready\n")
            // The caller starts all parts at once.
            _ = readLine()
            var variants = 0
            var bytes = 0
            let start = SystemTime.monotonic
            let cpu = ProcessMemory.cpuTime
            for (url, content) in files {
                let made = try content.withUnsafeBytes {
                    try BareLibvips.render($0, formats, quality: 80)
                }
                variants += made.count
                bytes += made.reduce(0) { $0 + $1.count }
                if words[3] != "-" {
                    for (format, largest) in zip(formats, made) {
                        let name = "\(url.lastPathComponent).\(format.suffix)"
                        try Data(largest).write(to: URL(filePath: "\(words[3])/\(name)"))
                    }
                }
            }
            let seconds = (SystemTime.monotonic - start).seconds
            let cpuMs = Double((ProcessMemory.cpuTime - cpu).nanoseconds) / 1e6
            Console.print("\(variants) \(seconds) \(cpuMs) \(bytes) \(ProcessMemory.of()?.peak ?? 0)")
            exit(0)
        } catch {
            Console.complain("mezzotint-bench bare: \(error)")
            exit(1)
        }
    }
}
