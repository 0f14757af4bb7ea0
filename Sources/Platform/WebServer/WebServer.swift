internal import CMicroHTTPD
internal import Glibc
internal import Posix
internal import Synchronization

/// A small HTTP server: libmicrohttpd on one thread of its own.
///
/// - Ownership: listens until `stop`, or until it is released.
/// - Concurrency: the handler runs on the server's thread and must not block; slow work responds `later`.
package final class WebServer: Sendable {
    /// Address that it listens on, as given.
    package let host: String
    package let port: Int
    private let core: ServerCore

    /// Listens at once, only on this address: IPv4 or IPv6, no name. Port 0 uses a free one.
    package init(
        host: String = "127.0.0.1", port: Int = 0, limits: Limits = Limits(),
        handler: @escaping @Sendable (Request) -> Response
    ) throws(WebServerFailure) {
        core = ServerCore(handler, limits)
        self.host = host
        self.port = try core.listen(host, port)
    }

    /// Limits of the resources that clients can use in this process.
    package struct Limits: Sendable {
        /// Most connections: one more closes the connection that has waited longest for its client.
        let connections: Int
        /// Most requests that are answered later; further ones get 503.
        let waiting: Int
        /// Bytes of each connection.
        let memory: Int

        package init(connections: Int = 4_096, waiting: Int = 4_096, memory: Int = 32 << 10) {
            (self.connections, self.waiting, self.memory) = (connections, waiting, memory)
        }
    }

    deinit { core.stop() }

    /// `http://127.0.0.1:port`.
    package var address: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// Number of requests whose head was received, since the start.
    package var requestCount: Int { core.requests.load(ordering: .relaxed) }
    /// Connections accepted since the start.
    package var connectionCount: Int { core.connections.load(ordering: .relaxed) }

    /// Closes everything; pending responses become 503. May be called twice.
    package func stop() { core.stop() }
}

/// The reason why the server does not listen.
package enum WebServerFailure: Error, Hashable, CustomStringConvertible {
    case cannotListen(host: String, port: Int, reason: String, remedy: String = "Choose another port.")

    package var description: String {
        switch self {
        case .cannotListen(let host, let port, let reason, let remedy):
            "Cannot listen on port \(port) of \(host): \(reason). \(remedy)"
        }
    }

    fileprivate static let address = "Name an address of this machine, or 0.0.0.0 or [::] for all of them."

    /// Where the system refuses to listen.
    fileprivate static func refused(_ host: String, _ port: Int, by code: Int32) -> Self {
        let remedy =
            switch code {
            case EADDRNOTAVAIL, EAFNOSUPPORT: address
            case EACCES: "Choose a port from 1024 up."
            default: "Choose another port, or stop the program that uses it."
            }
        return .cannotListen(host: host, port: port, reason: String(cString: strerror(code)), remedy: remedy)
    }
}

/// The daemon and its pending requests.
///
/// - Ownership: the daemon holds this unretained: `stop` ends it first.
/// - Concurrency: callbacks on the daemon's thread; `exchanges` under its lock.
final class ServerCore: @unchecked Sendable {
    let requests = Atomic<Int>(0)
    let connections = Atomic<Int>(0)
    let handler: @Sendable (WebServer.Request) -> WebServer.Response
    /// Open connections, by their addresses.
    private let open: Mutex<OpenConnections<UInt>>
    /// Suspended connections by identity; nil once stopped.
    private let waiting = Mutex<[ObjectIdentifier: Exchange]?>([:])
    private let daemon = Mutex<Daemon?>(nil)

    private struct Daemon: @unchecked Sendable { let pointer: OpaquePointer }

    private let limits: WebServer.Limits

    init(_ handler: @escaping @Sendable (WebServer.Request) -> WebServer.Response, _ limits: WebServer.Limits) {
        (self.handler, self.limits) = (handler, limits)
        open = Mutex(OpenConnections(limit: limits.connections))
    }

    func listen(_ host: String, _ port: Int) throws(WebServerFailure) -> Int {
        guard let number = UInt16(exactly: port) else {
            throw .cannotListen(host: host, port: port, reason: "ports go from 0 to 65535")
        }
        var (v4, v6) = (sockaddr_in(), sockaddr_in6())
        (v4.sin_family, v4.sin_port) = (sa_family_t(AF_INET), number.bigEndian)
        (v6.sin6_family, v6.sin6_port) = (sa_family_t(AF_INET6), number.bigEndian)
        let started: OpaquePointer?
        switch IPAddress(host) {
        case .v4(let word):
            v4.sin_addr.s_addr = word.bigEndian
            started = start(&v4)
        case .v6(let high, let low):
            withUnsafeMutableBytes(of: &v6.sin6_addr) {
                $0.storeBytes(of: high.bigEndian, as: UInt64.self)
                $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            started = start(&v6)
        case nil:
            throw .cannotListen(
                host: host, port: port, reason: "that is no IPv4 or IPv6 address", remedy: WebServerFailure.address)
        }
        guard let started else { throw .refused(host, port, by: errno) }
        daemon.withLock { $0 = Daemon(pointer: started) }
        return Int(mz_mhd_port(started))
    }

    private func start<Address>(_ address: UnsafePointer<Address>) -> OpaquePointer? {
        let me = Unmanaged.passUnretained(self).toOpaque()
        return address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            mz_mhd_start(
                address, me,
                { _, uri, connection in
                    Unmanaged.passRetained(Exchange(connection!, target: String(cString: uri!))).toOpaque()
                },
                { me, _, _, method, _, _, upload, state in
                    guard let exchange = Exchange.of(state?.pointee) else { return .NO }
                    return ServerCore.of(me).access(exchange, method!, upload!)
                },
                { me, connection, state, _ in
                    let address = UInt(bitPattern: connection)
                    ServerCore.of(me).open.withLock { $0.answered(address) }
                    guard let opaque = state?.pointee else { return }
                    state?.pointee = nil
                    Unmanaged<Exchange>.fromOpaque(opaque).takeRetainedValue().cancel()
                },
                { me, connection, _, change in
                    ServerCore.of(me).connection(
                        UInt(bitPattern: connection), isOpen: change == .CONNECTION_NOTIFY_STARTED)
                }, UInt32(limits.connections + Self.closing), 30, limits.memory)
        }
    }

    /// A shut connection still counts until the daemon's next round, in which it accepts a few new ones.
    private static let closing = 64

    private func connection(_ connection: UInt, isOpen: Bool) {
        guard isOpen else { return open.withLock { $0.closed(connection) } }
        connections.add(1, ordering: .relaxed)
        // Still valid: only this thread closes connections.
        if let longest = open.withLock({ $0.opened(connection) }) { mz_mhd_shut(OpaquePointer(bitPattern: longest)) }
    }

    /// Called once with the head, then until the upload is over; then the request gets its response.
    private func access(
        _ exchange: Exchange, _ method: UnsafePointer<CChar>, _ upload: UnsafeMutablePointer<Int>
    ) -> MHD_Result {
        guard exchange.isKnown else {
            exchange.isKnown = true
            requests.add(1, ordering: .relaxed)
            return .YES
        }
        guard upload.pointee == 0 else {
            upload.pointee = 0  // Request bodies are ignored.
            return .YES
        }
        if let response = exchange.response { return exchange.queue(response) }
        guard let request = exchange.request(method: String(cString: method)) else {
            return exchange.queue(.ambiguous)
        }
        let response = handler(request)
        guard case .later(let work) = response.content else { return exchange.queue(response) }
        return suspend(exchange, until: work)
    }

    private func suspend(
        _ exchange: Exchange, until work: @escaping @Sendable () async -> WebServer.Response
    ) -> MHD_Result {
        let refusal: WebServer.Response? = waiting.withLock { waiting in
            guard let count = waiting?.count else { return .unavailable }
            guard count < limits.waiting else { return .busy }
            waiting?[ObjectIdentifier(exchange)] = exchange
            return nil
        }
        if let refusal { return exchange.queue(refusal) }
        exchange.suspend()
        // Bare because libmicrohttpd's thread has no task that could be its parent; `stop` and a lost connection cancel
        // it.
        exchange.work = Task { [self] in
            let response = await work()
            resume(exchange, response)
        }
        return .YES
    }

    /// The first response counts; a connection is resumed once.
    private func resume(_ exchange: Exchange, _ response: WebServer.Response) {
        waiting.withLock { waiting in
            guard waiting?.removeValue(forKey: ObjectIdentifier(exchange)) != nil else { return }
            exchange.resume(response)
        }
    }

    /// libmicrohttpd aborts the process if a connection is still suspended when it is stopped.
    func stop() {
        guard let daemon = daemon.withLock({ $0.take() })?.pointer else { return }
        waiting.withLock { waiting in
            for exchange in (waiting ?? [:]).values {
                exchange.resume(.unavailable)
                exchange.cancel()
            }
            waiting = nil
        }
        MHD_stop_daemon(daemon)
    }

    private static func of(_ opaque: UnsafeMutableRawPointer?) -> ServerCore {
        Unmanaged<ServerCore>.fromOpaque(opaque!).takeUnretainedValue()
    }
}
