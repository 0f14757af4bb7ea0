internal import Foundation
internal import Glibc
internal import Synchronization

/// Connections that send a byte of a head now and then, and come back when they are closed. They end with the value.
package final class DrippingClients: Sendable {
    private final class Course: Sendable {
        let isOver = Atomic(false)
        let connects = Atomic(0)
    }

    private let course = Course()

    /// Connections that were made so far.
    package var connects: Int { course.connects.load(ordering: .relaxed) }

    package init(_ count: Int, port: Int) {
        Thread { [course] in Self.run(course, count, port) }.start()
    }

    deinit { course.isOver.store(true, ordering: .relaxed) }

    private static func run(_ course: Course, _ count: Int, _ port: Int) {
        var sockets = [Int32](repeating: -1, count: count)
        defer { for socket in sockets where socket >= 0 { close(socket) } }
        let head = Array("GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: ".utf8)
        while !course.isOver.load(ordering: .relaxed) {
            for place in sockets.indices {
                if sockets[place] < 0 {
                    sockets[place] = connected(to: port)
                    _ = send(sockets[place], head, head.count, Int32(MSG_NOSIGNAL))
                    course.connects.add(1, ordering: .relaxed)
                } else if send(sockets[place], "a", 1, Int32(MSG_NOSIGNAL)) < 0, errno != EAGAIN {
                    close(sockets[place])
                    sockets[place] = -1
                }
            }
        }
    }

    private static func connected(to port: Int) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), UInt16(port).bigEndian)
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            return -1
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return descriptor
    }
}
