internal import Posix

/// The target named by the first argument.
private let target = Swift.CommandLine.arguments.dropFirst().first.flatMap(FuzzTarget.init)

/// Entry point of libFuzzer for each input: reading it must never trap.
///
/// Only `ops/fuzz` builds it, with coverage. Every result of an input is valid, so that only a crash is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func readInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    target?.read(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

/// Entry point of libFuzzer itself. SwiftPM renames `main` to this, which hides libFuzzer's own.
@_cdecl("mezzotint_fuzz_main")
public func start(_ count: Int32, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Int32 {
    guard let target, var words, count > 2 else {
        print("ops/fuzz TARGET [RUNS]: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
        return 2
    }
    // Writes the seeds into the first folder.
    for (number, seed) in target.seeds.enumerated() {
        if let folder = words[2], let file = try? OpenFile(creating: "\(String(cString: folder))/seed-\(number)") {
            try? file.append(seed)
        }
    }
    words[1] = words[0]
    words += 1
    var (left, rest) = (count - 1, Optional(words))
    return runDriver(&left, &rest) { readInput($0, $1) }
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32
