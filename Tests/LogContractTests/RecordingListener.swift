import ImageModel
import Ports
import Synchronization

/// Writes down what a log tells its owner, and lets a test wait for it.
final class RecordingListener: LogListener {
    enum Event: Sendable, Hashable {
        case assigned(PartitionID, epoch: Int64, changelog: Range<Int64>)
        case readable(Topic, PartitionID)
        case revoked(PartitionID)
        case lost(PartitionID)
        case failed(LogFailure)
    }

    private let changelogStart: Int64?
    private let seen = Mutex<[Event]>([])
    private let events: AsyncStream<Event>
    private let sink: AsyncStream<Event>.Continuation

    /// `changelogStart`: where to read `variants`; nil for the first record there is.
    init(changelogStart: Int64? = nil) {
        self.changelogStart = changelogStart
        (events, sink) = AsyncStream.makeStream()
    }

    var all: [Event] { seen.withLock { $0 } }

    /// Events from now on, as they come.
    func wait(for event: Event) async {
        for await next in events where next == event { return }
    }

    private func note(_ event: Event) {
        seen.withLock { $0.append(event) }
        sink.yield(event)
    }

    func assigned(_ partition: PartitionID, epoch: Int64, changelog: Range<Int64>) -> Int64 {
        note(.assigned(partition, epoch: epoch, changelog: changelog))
        return changelogStart ?? changelog.lowerBound
    }
    func readable(_ topic: Topic, _ partition: PartitionID) { note(.readable(topic, partition)) }
    func revoked(_ partition: PartitionID, deadline: Int64) { note(.revoked(partition)) }
    func lost(_ partition: PartitionID) { note(.lost(partition)) }
    func failed(_ failure: LogFailure) { note(.failed(failure)) }
}
