internal import Ports
internal import Posix
internal import RenderProtocol
internal import VariantSpec

/// One render on its way to a renderer process.
struct PendingRender: Sendable {
    let picture: Picture
    let specs: [VariantSpec]
    let request: RenderRequest
    let watermarks: [OpenFile]
    /// Origin of the picture, if known.
    let origin: String?
}
