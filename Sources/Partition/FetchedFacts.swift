package import Digest
package import ImageModel
package import VariantSpec

/// A source as it was fetched: all that planning needs of it, without its bytes.
package struct FetchedFacts: Sendable, Hashable {
    package let version: SourceVersion
    package let digest: SHA256Digest
    package let bytes: Int
    package let format: ImageFormat
    package let size: PixelSize
    package let hasAlpha: Bool
    package let frames: Int

    package init(
        version: SourceVersion, digest: SHA256Digest, bytes: Int, format: ImageFormat, size: PixelSize, hasAlpha: Bool,
        frames: Int = 1
    ) {
        self.frames = frames
        (self.version, self.digest, self.bytes) = (version, digest, bytes)
        (self.format, self.size, self.hasAlpha) = (format, size, hasAlpha)
    }
}
