/// Whether work that could go on does: what liveness goes by.
///
/// Looked at are the steps that nobody but this process and its children can end. Where some of a kind run and none of
/// them has ended for long, a thread hangs or a child does, and a new process would go on. Whatever waits for the log, for its
/// time, or for a permit is no sign of that: brokers may be away for hours, and no new process brings them back.
package struct StandstillWatch: Sendable {
    package enum Step: String, Sendable, CaseIterable {
        case fetch = "fetched"
        /// To the end of the put.
        case make = "rendered or stored"
    }

    /// At one moment.
    package struct Reading: Sendable {
        package var running: Int
        /// Since the start.
        package var ended: Int
        package init(running: Int, ended: Int) { (self.running, self.ended) = (running, ended) }
    }

    private struct Course {
        var reading = Reading(running: 0, ended: 0)
        /// Milliseconds for which some have run and none has ended.
        var still: Int64 = 0
    }

    private var courses: [Step: Course] = [:]
    private var last: Int64?

    package init() {}

    /// - Parameter now: monotonic milliseconds. Time in which nobody looked, since the process was stopped, counts little.
    package mutating func note(_ readings: [Step: Reading], at now: Int64) {
        let passed = min(now - (last ?? now), Self.longestTick)
        last = now
        for (step, reading) in readings {
            var course = courses[step] ?? Course()
            let hasMoved = reading.running == 0 || reading.ended != course.reading.ended || course.reading.running == 0
            course = Course(reading: reading, still: hasMoved ? 0 : course.still + passed)
            courses[step] = course
        }
    }

    /// The step that has stood still for longest, if that is longer than may be.
    package func standstill(after limit: Duration) -> Standstill? {
        let stuck = courses.filter { .milliseconds($0.value.still) > limit }.max { $0.value.still < $1.value.still }
        return stuck.map { Standstill(step: $0.key, count: $0.value.reading.running, seconds: $0.value.still / 1000) }
    }

    private static let longestTick: Int64 = 1_000
}

/// Work that hangs.
package struct Standstill: Sendable, Equatable, CustomStringConvertible {
    package let step: StandstillWatch.Step
    package let count: Int
    package let seconds: Int64

    package var description: String {
        "\(count) sources are being \(step.rawValue), and none of them has come on for \(seconds) s: a thread or a renderer hangs. Start the worker anew (worker.standstill)."
    }
}
