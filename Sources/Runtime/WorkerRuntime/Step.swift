internal import ImageModel
internal import Images
internal import Planning
internal import Ports
package import VariantSpec

/// One step of a flight, as it was measured: monotonic nanoseconds.
package struct Step: Sendable, Equatable {
    package enum Name: Sendable, Equatable {
        case fetch
        /// The formats that were written, each once.
        case render([ImageFormat])
        case store, announce
    }

    package let name: Name
    package let begin: Int64
    package let end: Int64

    package init(_ name: Name, begin: Int64, end: Int64) { (self.name, self.begin, self.end) = (name, begin, end) }

    var duration: Duration { .nanoseconds(end - begin) }
}

/// Measures steps that follow each other.
struct StepClock: Sendable {
    private let time: any TimeSource
    private var begun: Int64
    private(set) var ended: [Step] = []

    init(_ time: any TimeSource) { (self.time, begun) = (time, time.monotonicNanoseconds) }

    mutating func end(_ name: Step.Name) {
        let now = time.monotonicNanoseconds
        ended.append(Step(name, begin: begun, end: now))
        begun = now
    }
}

extension RenderBatch {
    /// What is written, each once.
    var formats: [ImageFormat] {
        orders.reduce(into: []) { formats, order in
            if !formats.contains(order.spec.format) { formats.append(order.spec.format) }
        }
    }
}
