import Failures
import Images
import Ports
import Testing
import VariantSpec

@Suite("Failures of rendering: whose fault each is", .timeLimit(.minutes(1)))
struct BlameTests {
    private enum Fault: Equatable { case source, limit, machine }
    private static let spec = VariantSpec(width: 9, height: 9, quality: 80, format: .jpeg)
    private static let size = PixelSize(width: 9, height: 9)

    /// The source is to be replaced only if its data are damaged. What we limit or lack names a setting or another form.
    private static func fault(_ code: RenderFailure.Code) -> (Fault, RenderFailure) {
        switch code {
        case .malformed: (.source, .malformed(.png, reason: "no IHDR"))
        case .truncated: (.source, .truncated(.png, reason: "ends early"))
        case .unrecognised: (.source, .unrecognised(reason: "it begins with the text “<html>”"))
        case .unsupported: (.limit, .unsupportedFeature(.tiff, reason: "its samples are complex numbers"))
        case .tooManyPixels: (.limit, .tooManyPixels(size, limit: 1))
        case .tooManyFrames: (.limit, .tooManyFrames(spec, limit: 1))
        case .tooManyScans: (.limit, .tooManyScans(limit: 1))
        case .tooManyChunks: (.limit, .tooManyChunks(limit: 1))
        case .tooMuchMemory: (.limit, .tooMuchMemory(.avif, bytes: 2, memory: 1))
        case .output: (.limit, .output(spec, reason: "too wide"))
        case .uninspected: (.limit, .uninspected(reason: "signal 11"))
        case .aborted: (.limit, .aborted(.svg))
        case .outOfMemory: (.limit, .outOfMemory(nil, reason: "9 bytes more were refused"))
        case .crashed: (.machine, .crashed(reason: "signal 11"))
        case .deadline: (.limit, .deadline(milliseconds: 9))
        case .unavailable: (.machine, .unavailable(reason: "gone"))
        case .noSpace: (.machine, .noSpace(reason: "full"))
        case .unreadable: (.machine, .unreadable(reason: "EIO"))
        }
    }

    /// Seen to fail: an inspector that ended, and a file of a form that is not decoded, were to be replaced at the origin.
    @Test("Only damage is to be mended at the origin", arguments: RenderFailure.Code.allCases)
    func blame(code: RenderFailure.Code) {
        let (fault, failure) = Self.fault(code)
        #expect(failure.kind == code)
        #expect(failure.description.contains("origin") == (fault == .source), "\(failure)")
        let advises = ["Raise ", "Publish ", "Ask for ", "Add "].contains { failure.description.contains($0) }
        #expect(advises == (fault == .limit), "\(failure)")
    }

    /// Of libheif 1.15, libtiff 4.5, libvips 8.14 and libjpeg-turbo 2.1.
    @Test(
        "What a library lacks is our limit, what it finds damaged is not",
        arguments: [
            ("Unsupported feature: Unsupported codec (4.3000)", "render.unsupported"),
            ("Invalid input: Security limit exceeded: too many items", "render.unsupported"),
            ("unsupported tiff image type", "render.unsupported"), ("samples out of range", "render.unsupported"),
            ("Compression scheme 50001 not implemented", "render.unsupported"),
            ("Arithmetic coding not supported", "render.unsupported"),
            // Seen to fail: Pillow and Chromium show an AVIF whose header has another size than its frame.
            ("bad image dimensions on decode", "render.unsupported"),
            ("Premature end of input file", "render.malformed"), ("Invalid palette", "render.malformed"),
            ("bad adaptive filter value", "render.malformed"),
        ])
    func library(words: String, code: String) {
        func failure(_ isTruncated: Bool) -> RenderFailure {
            let facts = PictureFacts(
                format: .tiff, size: Self.size, orientation: 1, frames: 1, hasAlpha: false, isTruncated: isTruncated)
            return RenderFailure(undecoded: facts, reason: words)
        }
        #expect(failure(false).code == code && failure(true).code == "render.truncated")
    }

    /// Of librsvg 2.54 and libxml2 2.9. Seen to fail: all were to be replaced at the origin.
    @Test(
        "An SVG that is parsed is not damaged, whatever its drawing fails for",
        arguments: [
            ("exceeded more than 500000 referenced elements", "render.unsupported"),
            ("cannot load more than 1000000 XML elements", "render.unsupported"),
            ("rendering error: NoMemory", "render.unsupported"),
            (
                "XML parse error: Error domain 1 code 1 on line 1 column 877 of data: Excessive depth in document: 256 use XML_PARSE_HUGE option",
                "render.unsupported"
            ),
            (
                "XML parse error: Error domain 1 code 77 on line 1 column 112 of data: Premature end of data in tag depth line 1",
                "render.malformed"
            ),
            (
                "XML parse error: Error domain 1 code 89 on line 1 column 676 of data: Detected an entity reference loop",
                "render.malformed"
            ),
            ("XML does not have <svg> root", "render.malformed"),
        ])
    func drawing(words: String, code: String) {
        let facts = PictureFacts(format: .svg, size: Self.size, orientation: 1, frames: 1, hasAlpha: true)
        #expect(RenderFailure(undecoded: facts, reason: words).code == code)
    }
}
