internal import CRdkafka
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records
internal import Synchronization

/// One client of librdkafka, with the queue of its events.
///
/// - Ownership: ended by `deinit`, on a thread of its own because that blocks until librdkafka's threads have ended.
///   All of its messages, queues and events must be freed by then.
/// - Concurrency: librdkafka's handles may be used from any thread.
final class KafkaClient: @unchecked Sendable {
    let handle: OpaquePointer
    let events: OpaquePointer
    /// Hides the configuration's secrets in librdkafka's texts.
    fileprivate let configuration: KafkaConfiguration
    private let wake: WakePipe?
    private let endFlags = Mutex<Int32>(0)
    /// Topics whose leaders this client has asked for.
    let known = Mutex<Set<Topic>>([])

    /// - Parameter wake: the pipe that its queues write to as long as they live.
    init(_ configuration: KafkaConfiguration, _ kind: ClientKind, wake: WakePipe? = nil) throws(LogFailure) {
        guard let options = rd_kafka_conf_new() else { throw .unavailable(reason: "librdkafka has no memory") }
        var problems: [String] = []
        for option in configuration.clientOptions(kind) {
            let (outcome, text) = withErrorText { rd_kafka_conf_set(options, option.name, option.value, $0, $1) }
            if outcome != RD_KAFKA_CONF_OK { problems.append("\(option.name): \(configuration.withoutSecrets(text)).") }
        }
        let events =
            RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG
            | RD_KAFKA_EVENT_OFFSET_COMMIT
        rd_kafka_conf_set_events(options, events)
        // librdkafka must not write to the terminal. Clients whose events are served get its log as events.
        rd_kafka_conf_set_log_cb(options, nil)
        guard problems.isEmpty else {
            rd_kafka_conf_destroy(options)
            throw .misconfigured(problems: problems)
        }
        let type = kind.isProducer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER
        let (handle, text) = withErrorText { rd_kafka_new(type, options, $0, $1) }
        guard let handle else {
            rd_kafka_conf_destroy(options)
            throw .misconfigured(problems: [configuration.withoutSecrets(text) + "."])
        }
        (self.handle, self.wake, self.configuration) = (handle, wake, configuration)
        if kind.isServed { rd_kafka_set_log_queue(handle, nil) }
        if kind.isProducer {
            self.events = rd_kafka_queue_get_main(handle)
        } else {
            rd_kafka_poll_set_consumer(handle)
            self.events = rd_kafka_queue_get_consumer(handle)
        }
    }

    deinit {
        rd_kafka_queue_destroy(events)
        let end = End(handle: handle, flags: endFlags.withLock { $0 }, wake: wake)
        OwnThread.start("kafka end") { end.reach() }
    }

    /// The handle on its way to the thread that ends it. The pipe closes last: until librdkafka's threads have ended, a
    /// closed queue may write to it, so its descriptor must not be another file's by then.
    private struct End: @unchecked Sendable {
        let handle: OpaquePointer
        let flags: Int32
        let wake: WakePipe?
        func reach() { withExtendedLifetime(wake) { rd_kafka_destroy_flags(handle, flags) } }
    }

    /// Lets `deinit` end without the coordinator, which does not respond.
    func abandon() { endFlags.withLock { $0 = RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE } }

    /// The last pending error, for clients whose events nobody serves. It names why no broker could be reached, while
    /// the result of a question reports only a timeout. "All brokers down" follows the reasons and is skipped.
    func lastError() -> (code: rd_kafka_resp_err_t, text: String)? {
        var last: (rd_kafka_resp_err_t, String)?
        while let event = KafkaEvent(from: events, of: self) {
            if event.kind == RD_KAFKA_EVENT_ERROR, event.error != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN {
                last = (event.error, event.text)
            }
        }
        return last
    }
}

/// One event, destroyed exactly once.
struct KafkaEvent: ~Copyable {
    let pointer: OpaquePointer
    private let client: KafkaClient

    /// Polls a queue; nil if no event came within the wait.
    init?(from queue: OpaquePointer, of client: KafkaClient, waiting limit: Duration = .zero) {
        guard let event = rd_kafka_queue_poll(queue, limit.kafka) else { return nil }
        (pointer, self.client) = (event, client)
    }

    deinit { rd_kafka_event_destroy(pointer) }

    var kind: Int32 { rd_kafka_event_type(pointer) }
    var error: rd_kafka_resp_err_t { rd_kafka_event_error(pointer) }
    var isFatal: Bool { rd_kafka_event_error_is_fatal(pointer) != 0 }
    var text: String { rd_kafka_event_error_string(pointer).map { shown($0) } ?? "" }

    /// A line of librdkafka's log, with its facility; nil for other events.
    var logLine: (facility: String, text: String)? {
        var facility: UnsafePointer<CChar>?
        var line: UnsafePointer<CChar>?
        var level: Int32 = 0
        guard kind == RD_KAFKA_EVENT_LOG, rd_kafka_event_log(pointer, &facility, &line, &level) == 0, let line else {
            return nil
        }
        return (facility.map { String(cString: $0) } ?? "", shown(line))
    }

    private func shown(_ text: UnsafePointer<CChar>) -> String {
        client.configuration.withoutSecrets(String(cString: text))
    }
}
