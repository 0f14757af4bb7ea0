internal import Images
internal import VariantSpec

extension PixelSize {
    /// Checks the sides in a header: the only way from a file's numbers to a size.
    init(_ width: Int, _ height: Int, of format: ImageFormat) throws(RenderFailure) {
        guard let size = PixelSize(checking: width, height) else {
            throw .malformed(format, reason: "its size is \(width)×\(height)")
        }
        self = size
    }
}
