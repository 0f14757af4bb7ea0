internal import Failures
package import Images
internal import Planning
package import VariantSpec

extension RenderFailure {
    /// The specs that a failed part refuses, so that the job's other variants are stored. nil if the source caused the
    /// failure: then the whole render fails, and the worker remembers the failure.
    ///
    /// A hostile source may miss every deadline. The source is the cause unless one of its variants is rendered, or the
    /// part is animated. The second missed deadline of a flight refuses all that it lacks.
    ///
    /// - Parameters:
    ///   - lacking: all orders that are not rendered yet, including those of `part`.
    ///   - hasMade: whether another order of the source is rendered.
    ///   - isSecond: whether a part missed its deadline earlier in the flight.
    package func refused(
        _ part: [RenderOrder], of lacking: [RenderOrder], frames: Int, hasMade: Bool, isSecond: Bool
    ) -> [VariantSpec]? {
        let own = lacking.filter { order in part.contains(where: order.isSamePicture) }.map(\.spec)
        let isMoving = frames > 1 && part.allSatisfy(\.spec.isAnimated)
        switch self {
        case .output(let spec, _), .outOfMemory(let spec?, _), .tooManyFrames(let spec, _): return [spec]
        case .deadline:
            if isSecond { return hasMade ? lacking.map(\.spec) : nil }
            return hasMade || isMoving && own.count < lacking.count ? own : nil
        default: return hasMade && isMoving && kind.verdict != .wait ? own : nil
        }
    }
}
