package import RenderProtocol

/// A second check of a JPEG that libvips decoded with warnings. libvips can refuse all warnings or none, and most leave
/// a good picture.
package enum JPEGCheck {
    /// - Failure: pixels without data.
    package static func run(_ bytes: UnsafeRawBufferPointer) throws(EngineFailure) {
        do throws(CodecFailure) { try JPEGReader.open(bytes).skim() } catch { throw .source(reason: error.reason) }
    }
}
