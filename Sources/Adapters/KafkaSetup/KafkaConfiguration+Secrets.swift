/// Hides the configuration's secrets. Only librdkafka options known to be harmless are shown, because a
/// later version may add an option that holds a password.
extension KafkaConfiguration {
    package static func isShown(option name: String) -> Bool {
        name.hasPrefix("enable.") || harmlessEnds.contains { name.hasSuffix($0) } || harmlessNames.contains(name)
    }

    /// The text without the password and without the values of options that are not shown.
    package func withoutSecrets(_ text: String) -> String {
        Secret.hide([security.password] + options.filter { !Self.isShown(option: $0.key) }.values, in: text)
    }

    /// Ends of names whose values are numbers or paths of files.
    private static let harmlessEnds = [".ms", ".bytes", ".kbytes", ".messages", ".location"]

    private static let harmlessNames: Set<String> = [
        "batch.num.messages", "broker.address.family", "broker.address.ttl", "broker.version.fallback", "check.crcs",
        "client.dns.lookup", "client.rack", "compression.codec", "compression.level", "compression.type", "debug",
        "delivery.report.only.error", "group.protocol.type", "isolation.level", "log.connection.close",
        "log.thread.name",
        "max.in.flight", "max.in.flight.requests.per.connection", "message.send.max.retries",
        "queue.buffering.backpressure.threshold", "request.required.acks", "retries", "sasl.kerberos.keytab",
        "sasl.kerberos.principal", "sasl.kerberos.service.name", "socket.keepalive.enable", "socket.max.fails",
        "socket.nagle.disable", "ssl.cipher.suites", "ssl.curves.list", "ssl.endpoint.identification.algorithm",
        "ssl.sigalgs.list", "topic.metadata.refresh.fast.cnt", "topic.metadata.refresh.sparse",
    ]
}
