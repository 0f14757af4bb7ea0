package import Clocks
internal import ImageModel
internal import Images
internal import Planning
internal import Ports
package import VariantSpec

/// One measured step of a flight.
package struct Step: Sendable, Equatable {
    package enum Name: Sendable, Equatable {
        case fetch
        /// The formats that were written, each once.
        case render([ImageFormat])
        case store, announce
    }

    package let name: Name
    package let begin: Instant
    package let end: Instant

    package init(_ name: Name, begin: Instant, end: Instant) { (self.name, self.begin, self.end) = (name, begin, end) }

    var duration: Duration { end - begin }
}

/// Measures consecutive steps.
struct StepClock: Sendable {
    private let time: any TimeSource
    private var begun: Instant
    private(set) var ended: [Step] = []

    init(_ time: any TimeSource) { (self.time, begun) = (time, time.monotonic) }

    mutating func end(_ name: Step.Name) {
        let now = time.monotonic
        ended.append(Step(name, begin: begun, end: now))
        begun = now
    }
}

extension RenderBatch {
    /// The formats that are written, each once.
    var formats: [ImageFormat] {
        orders.reduce(into: []) { formats, order in
            if !formats.contains(order.spec.format) { formats.append(order.spec.format) }
        }
    }
}
