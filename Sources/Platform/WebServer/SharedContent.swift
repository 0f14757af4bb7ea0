internal import CMicroHTTPD

/// One response for many clients: its bytes exist once, however many clients read them slowly.
///
/// - Ownership: one reference to libmicrohttpd's response; each connection that sends it has one of its own.
/// - Concurrency: immutable.
package final class SharedContent: @unchecked Sendable {
    let response: OpaquePointer?

    package init(_ bytes: [UInt8], headers: [(name: String, value: String)]) {
        response = bytes.withUnsafeBytes {
            MHD_create_response_from_buffer(
                $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
        }
        for (name, value) in headers { _ = MHD_add_response_header(response, name, value) }
    }

    deinit { if let response { MHD_destroy_response(response) } }
}
