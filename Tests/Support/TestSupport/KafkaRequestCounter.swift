internal import Glibc
internal import Posix
internal import Synchronization

/// Stands before a broker's listener, passes connections on to it, and counts what is asked. Ends with the value.
package final class KafkaRequestCounter: Sendable {
    /// Kafka's numbers for them.
    package enum Request: UInt16, Sendable {
        case fetch = 1
        case listOffsets = 2
        case offsetFetch = 9
    }

    private let listener: Int32
    private let counts = Counts()

    private final class Counts: Sendable {
        let byKey = Mutex<[UInt16: Int]>([:])
    }

    /// Both sockets of a connection that is passed on, closed once neither direction has anything left.
    private final class Sockets: Sendable {
        let client: Int32
        let broker: Int32
        init(_ client: Int32, _ broker: Int32) { (self.client, self.broker) = (client, broker) }
        deinit {
            close(client)
            close(broker)
        }
    }

    package init(on port: Int, to target: Int) throws {
        listener = Self.socket()
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard Self.at(port, { bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0 else {
            throw SystemFailure("listen", on: "127.0.0.1:\(port)", code: errno)
        }
        OwnThread.start("kafka counter") { [listener, counts] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                let sockets = Sockets(client, Self.socket())
                guard Self.at(target, { connect(sockets.broker, $0, $1) }) == 0 else { continue }
                OwnThread.start("kafka requests") {
                    var frames = Frames()
                    Self.pass(sockets.client, to: sockets.broker) { bytes in
                        for key in frames.keys(in: bytes) { counts.byKey.withLock { $0[key, default: 0] += 1 } }
                    }
                    withExtendedLifetime(sockets) {}
                }
                OwnThread.start("kafka answers") {
                    Self.pass(sockets.broker, to: sockets.client) { _ in }
                    withExtendedLifetime(sockets) {}
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    package var total: Int { counts.byKey.withLock { $0.values.reduce(0, +) } }
    package func count(_ request: Request) -> Int { counts.byKey.withLock { $0[request.rawValue] ?? 0 } }

    /// A request is its length in four bytes, its key in two, and the rest.
    private struct Frames {
        private var head: [UInt8] = []
        private var left = 0

        mutating func keys(in bytes: ArraySlice<UInt8>) -> [UInt16] {
            var bytes = bytes
            var keys: [UInt16] = []
            while let first = bytes.first {
                if left > 0 {
                    let count = min(left, bytes.count)
                    bytes.removeFirst(count)
                    left -= count
                    continue
                }
                bytes.removeFirst()
                head.append(first)
                guard head.count == 6 else { continue }
                left = head[..<4].reduce(0) { $0 << 8 | Int($1) } - 2
                keys.append(UInt16(head[4]) << 8 | UInt16(head[5]))
                head = []
            }
            return keys
        }
    }

    private static func pass(_ from: Int32, to: Int32, _ look: (ArraySlice<UInt8>) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = recv(from, &buffer, buffer.count, 0), count > 0 {
            look(buffer[..<count])
            var sent = 0
            while sent < count {
                let more = buffer[sent..<count].withUnsafeBytes {
                    send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if more <= 0 { break }
                sent += more
            }
        }
        shutdown(to, Int32(SHUT_WR))
    }

    private static func socket() -> Int32 {
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    private static func at(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
