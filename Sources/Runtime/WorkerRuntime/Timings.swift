internal import ImageModel
package import Planning
package import Telemetry
internal import VariantSpec

/// Durations of the steps of jobs since the worker began, and the reasons why stored variants were not used.
///
/// Buckets come from measurements. A worker's own steps take from under a millisecond (a put, an append) to seconds (an
/// AVIF). Steps that depend on others take up to their deadlines. The bounds for waiting include the lanes' targets.
package struct Timings: Sendable, Equatable {
    package private(set) var waits = Timings.byLane([
        0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600, 3600,
    ])
    package private(set) var works = Timings.byLane([0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60])
    package private(set) var fetches = Timings.byLane([
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ])
    /// Durations by lane, then by written format.
    package private(set) var renders: [[String: Histogram]]
    package private(set) var puts = Timings.byLane(Timings.short)
    package private(set) var appends = Histogram(Timings.short)
    package private(set) var refusals: [DonorRefusal: Int] = [:]

    private static let short = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30]
    private static let render = Histogram([0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.25, 2.5, 5, 10])
    /// Key of a decode that was written in more than one format.
    private static let several = "several"

    package init() {
        let written = ImageFormat.allCases.filter(\.isWritten).map(\.rawValue) + [Self.several]
        let none = Dictionary(uniqueKeysWithValues: written.map { ($0, Self.render) })
        renders = [[String: Histogram]](repeating: none, count: Lane.count)
    }

    private static func byLane(_ bounds: [Double]) -> [Histogram] {
        [Histogram](repeating: Histogram(bounds), count: Lane.count)
    }

    mutating func wait(_ duration: Duration, on lane: Lane) { waits[lane.ordinal].observe(duration) }
    mutating func work(_ duration: Duration, on lane: Lane) { works[lane.ordinal].observe(duration) }
    mutating func append(_ duration: Duration) { appends.observe(duration) }
    mutating func refuse(_ reasons: [DonorRefusal]) { for reason in reasons { refusals[reason, default: 0] += 1 } }

    mutating func note(_ step: Step, on lane: Lane) {
        switch step.name {
        case .fetch: fetches[lane.ordinal].observe(step.duration)
        case .render(let formats):
            let format = formats.count == 1 ? formats[0].rawValue : Self.several
            renders[lane.ordinal][format, default: Self.render].observe(step.duration)
        case .store: puts[lane.ordinal].observe(step.duration)
        case .announce: appends.observe(step.duration)
        }
    }
}
