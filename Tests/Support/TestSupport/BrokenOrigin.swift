internal import Clocks
internal import Glibc
internal import Posix
internal import Synchronization

/// An origin that breaks the rules, on a raw socket: half answers, slow drips, silence. Ends with the value.
package final class BrokenOrigin: Sendable {
    /// What every connection gets once its request has come.
    package enum Behaviour: Sendable {
        /// These bytes, then the connection is closed.
        case answer([UInt8])
        /// These bytes so long after the request, then the connection is closed.
        case late([UInt8], after: Duration)
        /// These bytes, then nothing, the connection open.
        case stall([UInt8])
        /// These bytes, then one more every so often, for ever.
        case drip([UInt8], every: Duration)
        /// These bytes, then others again and again, as fast as they go.
        case flood([UInt8], [UInt8])
        /// What the request's bytes make of it.
        indirect case scripted(@Sendable ([UInt8]) -> Behaviour)

        package static func answer(_ text: String) -> Behaviour { .answer(Array(text.utf8)) }
        package static func stall(_ text: String) -> Behaviour { .stall(Array(text.utf8)) }
        package static func flood(_ text: String, _ again: String) -> Behaviour {
            .flood(Array(text.utf8), Array(again.utf8))
        }
        package static let silence = Behaviour.stall([])
    }

    package let port: Int
    private let address: String
    private let listener: Int32
    private let book = Book()

    private final class Book: Sendable {
        let isStopped = Atomic<Bool>(false)
        let connections = Atomic<Int>(0)
        let sent = Atomic<Int>(0)
        let late = Atomic<Int>(0)
        let mostLate = Atomic<Int>(0)
        /// The same by the first folder of what is asked for.
        let folders = Mutex<[String: (late: Int, most: Int)]>([:])

        func count(_ step: Int, in folder: String) {
            folders.withLock { folders in
                let late = folders[folder, default: (0, 0)].late + step
                folders[folder] = (late, max(late, folders[folder]?.most ?? 0))
            }
            mostLate.max(late.add(step, ordering: .relaxed).newValue, ordering: .relaxed)
        }
    }

    /// `address`: any of 127/8.
    package init(on address: String = "127.0.0.1", _ behaviour: Behaviour) throws {
        self.address = address
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, address, &place.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                bind(listener, place, length) | listen(listener, 64) | getsockname(listener, place, &length)
            }
        }
        (self.listener, port) = (listener, Int(UInt16(bigEndian: place.sin_port)))
        guard listener >= 0, code == 0 else { throw SystemFailure("listen", on: address, code: errno) }
        OwnThread.start("broken-origin") { [listener, book] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0, !book.isStopped.load(ordering: .acquiring) else {
                    close(connection)
                    close(listener)
                    return
                }
                book.connections.add(1, ordering: .relaxed)
                OwnThread.start("broken-peer") {
                    Self.serve(connection, behaviour, until: book)
                    close(connection)
                }
            }
        }
    }

    deinit {
        book.isStopped.store(true, ordering: .releasing)
        shutdown(listener, Int32(SHUT_RDWR))  // Ends the accept.
    }

    package func url(_ path: String = "/") -> String { "http://\(address):\(port)\(path)" }
    package var connectionCount: Int { book.connections.load(ordering: .relaxed) }
    /// Bytes of floods that clients, or their sockets, took.
    package var bytesFlooded: Int { book.sent.load(ordering: .relaxed) }
    /// Most requests that waited for `late` answers at once: each until it is answered, or its client has gone.
    package var mostLate: Int { book.mostLate.load(ordering: .relaxed) }
    /// Of those to `/folder/…`.
    package func mostLate(in folder: String) -> Int { book.folders.withLock { $0[folder]?.most ?? 0 } }

    private static func serve(_ connection: Int32, _ behaviour: Behaviour, until book: Book) {
        var request: [UInt8] = []
        while request.suffix(4) != [13, 10, 13, 10] {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            request += buffer[..<count]
        }
        answer(connection, behaviour, to: request, until: book)
    }

    private static func answer(_ connection: Int32, _ behaviour: Behaviour, to request: [UInt8], until book: Book) {
        switch behaviour {
        case .scripted(let script): answer(connection, script(request), to: request, until: book)
        case .answer(let bytes): write(bytes, to: connection)
        case .late(let bytes, let wait):
            let folder = String(decoding: request.drop { $0 != 0x2F }.dropFirst().prefix { $0 != 0x2F }, as: UTF8.self)
            book.count(1, in: folder)
            let isThere = pause(connection, wait)
            // Once it is answered, its client may begin another.
            book.count(-1, in: folder)
            if isThere { write(bytes, to: connection) }
        case .stall(let bytes):
            write(bytes, to: connection)
            while pause(connection, 100), !book.isStopped.load(ordering: .acquiring) {}
        case .flood(let bytes, let again):
            let many = [UInt8]((0..<max(1, (64 << 10) / again.count)).lazy.map { _ in again }.joined())
            guard write(bytes, to: connection) else { return }
            while !book.isStopped.load(ordering: .acquiring), write(many, to: connection) {
                book.sent.add(many.count, ordering: .relaxed)
            }
        case .drip(let bytes, let interval):
            write(bytes, to: connection)
            while pause(connection, interval), !book.isStopped.load(ordering: .acquiring), write([0x2E], to: connection)
            {}
        }
    }

    /// Waits so long; false once the peer has gone.
    private static func pause(_ connection: Int32, _ time: Duration) -> Bool {
        var wait = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
        return poll(&wait, 1, Int32(time.milliseconds)) == 0
    }

    @discardableResult
    private static func write(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
