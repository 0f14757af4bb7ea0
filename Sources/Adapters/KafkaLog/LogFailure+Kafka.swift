internal import CRdkafka
internal import Ports

extension LogFailure {
    /// - Parameter subject: the operation and its target, for people.
    init(_ error: rd_kafka_resp_err_t, _ subject: String) {
        self.init(error, reason: "\(subject): \(String(cString: rd_kafka_err2str(error)))")
    }

    init(_ error: rd_kafka_resp_err_t, reason: String) {
        self =
            switch error {
            case RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
                RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
                RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR__SSL:
                .denied(reason: reason)
            // A broker that refuses our certificate, or requires one, sends an alert and closes the connection.
            case RD_KAFKA_RESP_ERR__TRANSPORT where reason.contains("SSL alert"): .denied(reason: reason)
            default: .unavailable(reason: reason)
            }
    }

    /// The reason why no broker responds, from librdkafka's text without thread, time and repetition count.
    static func unreachable(_ bootstrap: String, _ text: String) -> String {
        let cause = text[..<(text.firstRange(of: " (after ")?.lowerBound ?? text.endIndex)]
        guard text.contains("Connect to "), let failed = cause.firstRange(of: " failed: ") else {
            return "Kafka at \(bootstrap): \(cause)"
        }
        let reason = cause[failed.upperBound...]
        return "cannot connect to Kafka at \(bootstrap): \(reason.prefix(1).lowercased())\(reason.dropFirst())"
    }

    /// Combines two results. If both fail, a denial wins, because no wait heals it and the caller must learn of it.
    static func both<A, B>(_ a: Result<A, LogFailure>, _ b: Result<B, LogFailure>) -> Result<(A, B), LogFailure> {
        if case .failure = a, case .failure(.denied(let reason)) = b { return .failure(.denied(reason: reason)) }
        return a.flatMap { a in b.map { (a, $0) } }
    }
}

extension rd_kafka_resp_err_t {
    var isNone: Bool { self == RD_KAFKA_RESP_ERR_NO_ERROR }
    /// Whether no broker responded.
    var isSilence: Bool {
        [
            RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE, RD_KAFKA_RESP_ERR__TRANSPORT,
            RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
        ].contains(self)
    }

    func check(_ subject: @autoclosure () -> String) throws(LogFailure) {
        if !isNone { throw LogFailure(self, subject()) }
    }
}

/// Takes over an error object and throws it; nil passes.
func check(_ error: OpaquePointer?, _ subject: @autoclosure () -> String) throws(LogFailure) {
    guard let error else { return }
    defer { rd_kafka_error_destroy(error) }
    throw LogFailure(
        rd_kafka_error_code(error), reason: "\(subject()): \(String(cString: rd_kafka_error_string(error)))")
}
