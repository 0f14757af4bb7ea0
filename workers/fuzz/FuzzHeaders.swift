internal import Ports
internal import Posix
internal import RenderProtocol
internal import PictureHeaders

/// What libFuzzer calls with each input of its making, a picture's file or a child's reply: reading it must never trap.
///
/// Built by `ops/fuzz` alone, with coverage; whatever an input leads to is an answer, so that only a crash is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func readHeader(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let file = try? OpenFile(anonymous: "fuzz"),
        (try? file.append(UnsafeRawBufferPointer(start: bytes, count: count))) != nil
    else { return 0 }
    let message = Array(UnsafeBufferPointer(start: bytes, count: count))
    _ = RenderReply(message: message)
    _ = InspectionReply(message: message)
    _ = ParentReply(message: message)
    do throws(RenderFailure) { _ = try PictureInspector().inspect(file) } catch {}
    return 0
}

/// libFuzzer's own beginning. SwiftPM makes `main` another name for this, which hides the one that libFuzzer brings.
@_cdecl("mezzotint_fuzz_main")
public func start(_ count: Int32, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Int32 {
    var (count, words) = (count, words)
    return runDriver(&count, &words) { readHeader($0, $1) }
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32
