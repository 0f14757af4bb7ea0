internal import VariantSpec

/// Pixels in memory: 8-bit RGB, rows one after the other.
///
/// Three bytes a pixel and not four: a quarter less to weigh, and what every encoder likes best.
final class Canvas {
    let size: PixelSize
    let bytes: UnsafeMutablePointer<UInt8>
    /// The inner loops read and write in blocks of 64 bytes, from up to 3 pixels behind the last.
    static let slack = 128

    init(_ size: PixelSize) {
        self.size = size
        bytes = .allocate(capacity: size.pixels * 3 + Self.slack)
    }
    deinit { bytes.deallocate() }

    var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: size.pixels * 3) }
    var stride: Int { size.width * 3 }
}
