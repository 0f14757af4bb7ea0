/// One or more ports as `fetch.ports` lists them: `443`, `8000-8999`.
package struct PortRange: Sendable, Hashable, CustomStringConvertible {
    package let ports: ClosedRange<UInt16>

    init(_ ports: ClosedRange<UInt16>) { self.ports = ports }

    /// nil unless the text is one port, or two joined by a dash, from 1 to 65535.
    package init?(_ text: String) {
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map { UInt16($0) }
        guard let first = ends[0], let last = ends[ends.count - 1], first > 0, first <= last else { return nil }
        ports = first...last
    }

    package var description: String {
        ports.count == 1 ? "\(ports.lowerBound)" : "\(ports.lowerBound)-\(ports.upperBound)"
    }

    /// Whether a port is allowed by default: the web's own ports, and unprivileged ports that are not `guarded`.
    package static func isUsual(_ port: UInt16) -> Bool {
        port == 80 || port == 443 || port >= 1024 && !guarded.contains { $0.ports.contains(port) }
    }

    /// Ports of databases, caches, brokers and container runtimes. Nothing there serves images, and a
    /// server of this kind may execute the request.
    package static let guarded =
        ([
            1433...1434, 1521...1521, 1883...1883, 2049...2049, 2181...2181, 2375...2376, 2379...2380, 3306...3306,
            4222...4222, 4369...4369, 5432...5432, 5671...5672, 5984...5984, 6379...6379, 6443...6443, 6650...6650,
            7000...7001, 7199...7199, 7473...7474, 7687...7687, 8086...8086, 8500...8500, 8883...8883, 9042...9042,
            9092...9094, 9200...9200, 9300...9300, 10250...10250, 10255...10255, 11211...11211, 16379...16379,
            26257...26257, 26379...26379, 27017...27019, 28015...28015, 61613...61613, 61616...61616,
        ] as [ClosedRange<UInt16>]).map { PortRange($0) }
}
