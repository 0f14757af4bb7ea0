package import VariantSpec

/// How the pixels of a `Canvas` lie in memory.
package struct PixelLayout: Sendable, Hashable {
    package let channels: Int
    /// Four bytes a channel, for images of more than 8 bits; else one.
    package let isFloat: Bool

    package init(channels: Int, isFloat: Bool = false) { (self.channels, self.isFloat) = (channels, isFloat) }

    /// Three bytes a pixel and not four: a quarter less to weigh, and what every encoder likes best.
    package static let rgb = PixelLayout(channels: 3)

    /// Of one pixel.
    package var bytes: Int { channels * (isFloat ? 4 : 1) }
}

/// Pixels in memory, rows one after the other.
///
/// - Ownership: of its memory, unless it was made in another's.
package final class Canvas {
    package let size: PixelSize
    package let layout: PixelLayout
    package let bytes: UnsafeMutablePointer<UInt8>
    private let isOwner: Bool
    /// The inner loops read and write in blocks of 64 bytes, from up to 3 pixels behind the last.
    package static let slack = 128

    package init(_ size: PixelSize, _ layout: PixelLayout = .rgb) {
        (self.size, self.layout, isOwner) = (size, layout, true)
        bytes = .allocate(capacity: size.pixels * layout.bytes + Self.slack)
    }

    /// In memory that outlives it, which needs no slack: it can be written, and not resampled again.
    package init(_ size: PixelSize, _ layout: PixelLayout, in memory: UnsafeMutablePointer<UInt8>) {
        (self.size, self.layout, isOwner, bytes) = (size, layout, false, memory)
    }

    deinit { if isOwner { bytes.deallocate() } }

    package var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: stride * size.height) }
    package var stride: Int { size.width * layout.bytes }
}
