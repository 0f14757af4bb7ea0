internal import Images
internal import VariantSpec

/// Checks that a picture ends at its last byte. A renderer's output must end there, or it could carry hidden data.
enum PictureEnd {
    static func check(
        _ bytes: inout PictureBytes, _ format: ImageFormat, _ header: PictureHeader
    ) throws(RenderFailure) {
        let end =
            switch format.output?.end {
            case .scanned: try JPEGHeader.end(of: &bytes)
            case .declared: header.end
            case nil: nil as Int?
            }
        guard !header.isTruncated, let end else { throw .malformed(format, reason: "it has no end") }
        guard end == bytes.length else {
            throw .malformed(format, reason: "\(bytes.length - end) bytes lie behind its end")
        }
    }
}
