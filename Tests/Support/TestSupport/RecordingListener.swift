package import Clocks
package import Ports
package import Records
internal import Synchronization

/// Writes down what a log tells its owner, and lets a test wait for it.
package final class RecordingListener: LogListener {
    package enum Event: Sendable, Hashable {
        case assigned(PartitionID, epoch: Int64, folded: ByFoldedTopic<Range<Int64>>)
        case readable(Topic, PartitionID)
        case revoked(PartitionID)
        case lost(PartitionID)
        case halted(LogFailure?)
        case failed(LogFailure)
    }

    private struct PendingJob {
        let isMet: @Sendable ([Event]) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var events: [Event] = []
        var pendingJobs: [PendingJob] = []
    }

    private let foldedStart: Int64?
    private let state = Mutex(State())

    /// - Parameter foldedStart: offset at which folded topics are read; nil: at the first record.
    package init(foldedStart: Int64? = nil) { self.foldedStart = foldedStart }

    package var all: [Event] { state.withLock { $0.events } }
    package var count: Int { state.withLock { $0.events.count } }

    /// Until what was heard, from the start on, meets the condition.
    package func until(_ isMet: @escaping @Sendable ([Event]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMetAlready = state.withLock { state in
                if isMet(state.events) { return true }
                state.pendingJobs.append(PendingJob(isMet: isMet, continuation: continuation))
                return false
            }
            if isMetAlready { continuation.resume() }
        }
    }

    /// Until the event comes after the first `heard` ones. Returns how many were heard then.
    @discardableResult
    package func wait(for event: Event, after heard: Int = 0) async -> Int {
        await until { $0.dropFirst(heard).contains(event) }
        return all.dropFirst(heard).firstIndex(of: event).map { $0 + 1 } ?? heard
    }

    private func note(_ event: Event) {
        let met = state.withLock { state in
            state.events.append(event)
            let met = state.pendingJobs.filter { $0.isMet(state.events) }
            if !met.isEmpty { state.pendingJobs.removeAll { $0.isMet(state.events) } }
            return met
        }
        for pending in met { pending.continuation.resume() }
    }

    package func assigned(
        _ partition: PartitionID, epoch: Int64, folded: ByFoldedTopic<Range<Int64>>
    ) -> ByFoldedTopic<Int64> {
        note(.assigned(partition, epoch: epoch, folded: folded))
        return folded.clamp(foldedStart.map { ByFoldedTopic(variants: $0, parked: $0) } ?? folded.starts)
    }
    package func readable(_ topic: Topic, _ partition: PartitionID) { note(.readable(topic, partition)) }
    package func revoked(_ partition: PartitionID, deadline: Instant) { note(.revoked(partition)) }
    package func lost(_ partition: PartitionID) { note(.lost(partition)) }
    package func halted(_ failure: LogFailure?) { note(.halted(failure)) }
    package func failed(_ failure: LogFailure) { note(.failed(failure)) }
}
