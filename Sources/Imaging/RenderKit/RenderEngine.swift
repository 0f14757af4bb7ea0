package import RenderProtocol
package import VariantSpec

/// Turns the bytes of a source into outputs, in the child: the seam between the pool and whatever decodes.
///
/// libvips fills it for everything; a direct path over the codecs may stand before it for what most jobs are.
///
/// - Concurrency: one render at a time, on the thread that it was made on.
package protocol RenderEngine {
    /// Calls `write` once for each output, in the request's order.
    func render(
        _ source: UnsafeRawBufferPointer, _ request: RenderRequest,
        write: (RenderedOutput, UnsafeRawBufferPointer) throws(EngineFailure) -> Void
    ) throws(EngineFailure)

    /// One picture written as an output asks: for an engine before this one, in formats that are not its own.
    ///
    /// - Parameter pixels: rows of sRGB without gaps, three bytes each pixel.
    func encode(
        _ pixels: UnsafeRawBufferPointer, _ size: PixelSize, as output: RenderOutput, at index: Int
    ) throws(EngineFailure) -> [UInt8]
}
