internal import CRdkafka
internal import Clocks
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records
internal import Synchronization

/// Appends batches through an idempotent producer, and replaces it when it breaks.
///
/// - Concurrency: `append` from anywhere; one thread of ours serves the delivery reports.
final class KafkaProducer: Sendable {
    private enum State {
        case open(ProducerClient)
        case rebuilding
        case closing
        case closed

        /// Taken under the lock, so that a replaced client can wait until no caller uses it.
        func entered() -> State {
            if case .open(let client) = self { client.enter() }
            return self
        }
    }

    private let state: Mutex<State>
    private let configuration: KafkaConfiguration
    private let notice: @Sendable (String) -> Void
    /// Callers that wait for the end.
    private let pendingJobs = Mutex<[CheckedContinuation<Void, Never>]>([])

    /// Connects; blocks until the cluster responds.
    init(_ configuration: KafkaConfiguration, notice: @escaping @Sendable (String) -> Void) throws(LogFailure) {
        (self.configuration, self.notice) = (configuration, notice)
        state = Mutex(.open(try ProducerClient(configuration)))
        OwnThread.start("kafka reports") { [self] in run() }
    }

    /// `obstacle` is called now and then while the records are handed over, and once more after the last.
    func append(
        _ records: [NewRecord], within partitionCount: Int, unless obstacle: () -> LogFailure?
    ) async -> [AppendResult] {
        if records.isEmpty { return [] }
        let client: ProducerClient
        switch state.withLock({ $0.entered() }) {
        case .open(let open): client = open
        case .rebuilding:
            return records.map { _ in .refused(.unavailable(reason: "the producer broke and is being replaced")) }
        case .closing, .closed: return records.map { _ in .refused(.closed) }
        }
        return await withCheckedContinuation { continuation in
            let batch = AppendBatch(records) { continuation.resume(returning: $0) }
            defer { client.leave() }
            // Records that follow one without room in the queue would overtake it.
            var refusal: LogFailure?
            for (index, record) in records.enumerated() {
                if index % Self.handedOverAtOnce == 0, refusal == nil { refusal = obstacle() }
                if let failure = refusal ?? Self.misfit(record, within: partitionCount) {
                    batch.settle(index, .refused(failure))
                } else if let error = client.produce(
                    record, slot: batch.slot(index, doubts: client.doubts(of: record)))
                {
                    let failure = LogFailure(error, of: record)
                    if error == RD_KAFKA_RESP_ERR__QUEUE_FULL || error == RD_KAFKA_RESP_ERR__FATAL { refusal = failure }
                    batch.settle(index, .refused(failure))
                }
            }
            // If this process released its partitions meanwhile, it has purged only the records queued before these.
            if refusal == nil, obstacle() != nil { client.refuseQueued() }
        }
    }

    /// Records between two calls of `obstacle`: a process can be stopped for long at any record.
    private static let handedOverAtOnce = 64

    /// Waits a little for appends in progress; their results are unknown after that.
    func close() async {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                switch state {
                case .open(let client):
                    state = .closing
                    client.wake()
                case .rebuilding: state = .closing
                case .closing: break
                case .closed: return true
                }
                pendingJobs.withLock { $0.append(continuation) }
                return false
            }
            if isClosed { continuation.resume() }
        }
    }

    /// Refuses queued records. Those already on their way to a broker may still arrive.
    func refuseQueued() { if case .open(let client) = state.withLock({ $0 }) { client.refuseQueued() } }

    func breakFatally() { if case .open(let client) = state.withLock({ $0 }) { client.breakFatally() } }

    private static func misfit(_ record: NewRecord, within count: Int) -> LogFailure? {
        let place = KafkaPlace(record.topic, record.partition)
        if record.partition.number < 0 || record.partition.number >= count { return place.absence(of: count) }
        guard record.byteCount + KafkaConfiguration.batchOverhead > KafkaConfiguration.recordBytes else { return nil }
        return .tooLarge(topic: record.topic, bytes: record.byteCount, limit: KafkaConfiguration.recordBytes)
    }

    /// Body of the thread: serves the client; after a fatal error, settles the remaining records and builds a new
    /// client.
    private func run() {
        while case .open(let client) = state.withLock({ $0 }) { live(client) }
        let waiting = state.withLock { state in
            state = .closed
            return pendingJobs.withLock { $0 }
        }
        for pending in waiting { pending.resume() }
    }

    /// Serves the client until it is fatally broken or closed.
    private func live(_ client: ProducerClient) {
        var isSound = true
        while isSound, isOpen { isSound = client.serve(notice) }
        let grace: Duration = isSound ? .seconds(5) : .zero
        state.withLock { if case .open = $0 { $0 = .rebuilding } }
        client.settleAll(until: SystemTime.monotonic + grace)
        while case .rebuilding = state.withLock({ $0 }) { rebuild() }
    }

    private var isOpen: Bool { if case .open = state.withLock({ $0 }) { true } else { false } }

    private func rebuild() {
        do throws(LogFailure) {
            let next = try ProducerClient(configuration)
            state.withLock { if case .rebuilding = $0 { $0 = .open(next) } }
        } catch {
            notice("The producer could not be replaced: \(error)")
        }
    }
}
