package import VariantSpec

/// Memory layout of a `Canvas`'s pixels.
package struct PixelLayout: Sendable, Hashable {
    package let channels: Int
    /// Whether a channel has four bytes, for images of more than 8 bits, rather than one.
    package let isFloat: Bool

    package init(channels: Int, isFloat: Bool = false) { (self.channels, self.isFloat) = (channels, isFloat) }

    /// Three bytes a pixel rather than four: a quarter less to weight, and every encoder's preferred layout.
    package static let rgb = PixelLayout(channels: 3)

    /// Bytes of one pixel.
    package var bytes: Int { channels * (isFloat ? 4 : 1) }
}

/// Pixels in memory, rows one after the other.
///
/// - Ownership: owns its memory, unless it was created in memory of others.
package final class Canvas {
    package let size: PixelSize
    package let layout: PixelLayout
    package let bytes: UnsafeMutablePointer<UInt8>
    private let isOwner: Bool
    /// Readable and writable bytes after the last pixel. The inner loops use blocks of 64 bytes, up to 3 pixels past
    /// the end.
    package static let slack = 128

    package init(_ size: PixelSize, _ layout: PixelLayout = .rgb) {
        (self.size, self.layout, isOwner) = (size, layout, true)
        bytes = .allocate(capacity: size.pixels * layout.bytes + Self.slack)
    }

    /// Uses memory that outlives it and has no slack: pixels can be written there, but not resampled again.
    package init(_ size: PixelSize, _ layout: PixelLayout, in memory: UnsafeMutablePointer<UInt8>) {
        (self.size, self.layout, isOwner, bytes) = (size, layout, false, memory)
    }

    deinit { if isOwner { bytes.deallocate() } }

    package var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: stride * size.height) }
    package var stride: Int { size.width * layout.bytes }
}
