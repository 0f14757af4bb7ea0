internal import ImageModel
package import TestSupport

/// A worker that is about to store a second picture, and whose store stands still, as on a disk that does not answer.
package struct HungStore: Sendable {
    package let place: Workplace
    package let worker: RunningProgram
    package let halted: HaltedThreads

    /// Settings of the worker alone. Three seconds in a step are a standstill: three times the deadlines.
    package init(_ settings: String...) async throws {
        place = try Workplace(
            "log.partitions=1", "worker.standstill=3s", "fetch.timeouts.dns=1s", "fetch.timeouts.connect=1s",
            "fetch.timeouts.firstByte=1s", "fetch.timeouts.total=1s", "render.deadline=1s")
        let urls = place.draw(2)
        worker = try place.worker(settings, untilIdle: false)
        // An owner asks its store who that is before it takes up a job.
        try place.publish([(urls[0], ["48x48.png"], .fast)], id: "first")
        while try await place.outcomes().isEmpty {}
        halted = try await HaltedThreads(named: "store", of: worker.pid)
        try place.publish([(urls[1], ["48x48.png"], .fast)], id: "second")
    }
}
