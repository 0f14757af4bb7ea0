internal import CPosix
internal import Glibc

/// What is asked of a TCP connection by its descriptor, while a library works with it.
///
/// - Concurrency: from any thread, as long as the descriptor is open.
package enum TCPConnection {
    /// Bytes that came and were read; 0 of what is no connection.
    package static func bytesRead(_ socket: Int32) -> Int { max(0, Int(mz_bytes_read(socket))) }

    /// Ends it with all that waits to be read: who reads it finds no connection.
    package static func cut(_ socket: Int32) { _ = mz_disconnect(socket) }

    package static func close(_ socket: Int32) { Glibc.close(socket) }
}
