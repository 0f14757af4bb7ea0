internal import CPosix
internal import Glibc

/// Queries and controls a TCP connection by its descriptor, while a library uses it.
///
/// - Concurrency: from any thread, as long as the descriptor is open.
package enum TCPConnection {
    /// Bytes that were received and read; 0 if the descriptor is no connection.
    package static func bytesRead(_ socket: Int32) -> Int { max(0, Int(mz_bytes_read(socket))) }

    /// Cuts it with all unread bytes: its reader finds no connection.
    package static func cut(_ socket: Int32) { _ = mz_disconnect(socket) }

    package static func close(_ socket: Int32) { Glibc.close(socket) }
}
