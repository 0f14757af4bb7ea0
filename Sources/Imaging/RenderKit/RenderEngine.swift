package import RenderProtocol
package import VariantSpec

/// Converts the bytes of a source into outputs, in the renderer process: the interface between the service and
/// decoders.
///
/// libvips implements it for all formats; a direct path over the codecs may precede it for the most common jobs.
///
/// - Concurrency: one render at a time, on the thread that created it.
package protocol RenderEngine {
    /// Calls `write` once for each output, in the request's order.
    func render(
        _ source: UnsafeRawBufferPointer, _ request: RenderRequest,
        write: (RenderedOutput, UnsafeRawBufferPointer) throws(EngineFailure) -> Void
    ) throws(EngineFailure)

    /// Encodes one picture as an output requires, for an engine that precedes this one and does not write its format.
    ///
    /// - Parameter pixels: rows of sRGB without gaps, three bytes per pixel.
    func encode(
        _ pixels: UnsafeRawBufferPointer, _ size: PixelSize, as output: RenderOutput, at index: Int
    ) throws(EngineFailure) -> [UInt8]
}
