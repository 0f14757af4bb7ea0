package import RenderProtocol

/// A second look at a JPEG that libvips decoded with warnings: libvips refuses all warnings or none, and most leave a good picture.
package enum JPEGCheck {
    /// - Failure: pixels that no data made.
    package static func run(_ bytes: UnsafeRawBufferPointer) throws(EngineFailure) {
        do throws(CodecFailure) { try JPEGReader.open(bytes).skim() } catch { throw .source(reason: error.reason) }
    }
}
