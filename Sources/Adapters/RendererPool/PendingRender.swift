internal import Ports
internal import Posix
internal import RenderProtocol
internal import VariantSpec

/// One render, on its way to a child.
struct PendingRender: Sendable {
    let picture: Picture
    let specs: [VariantSpec]
    let request: RenderRequest
    let watermarks: [OpenFile]
    /// Whose picture it is, where it is known.
    let origin: String?
}
