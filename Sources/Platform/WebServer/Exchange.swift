internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// One request and its response, kept by libmicrohttpd between its calls.
///
/// - Ownership: retained by the connection until the request is completed.
/// - Concurrency: the daemon's thread. While it is suspended, the response is set under the core's lock.
final class Exchange: @unchecked Sendable {
    var isKnown = false
    private(set) var response: WebServer.Response?
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let connection: OpaquePointer
    private let target: String

    init(_ connection: OpaquePointer, target: String) { (self.connection, self.target) = (connection, target) }

    var work: Task<Void, Never>? {
        get { task.withLock { $0 } }
        set { task.withLock { $0 = newValue } }
    }

    static func of(_ opaque: UnsafeMutableRawPointer?) -> Exchange? {
        opaque.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }

    private struct Head {
        var headers: [String: String] = [:]
        var isAmbiguous = false

        /// Headers that determine a request's host and its end.
        private static let single: Set = ["host", "content-length", "transfer-encoding"]

        mutating func add(_ name: String, _ value: String) {
            if headers.updateValue(value, forKey: name) != nil, Self.single.contains(name) { isAmbiguous = true }
            if headers["content-length"] != nil, headers["transfer-encoding"] != nil { isAmbiguous = true }
        }
    }

    /// The request; nil if its head is ambiguous: a proxy before us may have read it differently.
    func request(method: String) -> WebServer.Request? {
        var head = Head()
        withUnsafeMutablePointer(to: &head) { head in
            _ = MHD_get_connection_values(
                connection, .HEADER_KIND,
                { head, _, name, value in
                    head!.assumingMemoryBound(to: Head.self).pointee.add(
                        String(cString: name!).lowercased(), value.map { String(cString: $0) } ?? "")
                    return .YES
                }, head)
        }
        return head.isAmbiguous ? nil : WebServer.Request(method: method, target: target, headers: head.headers)
    }

    func suspend() { MHD_suspend_connection(connection) }

    func resume(_ response: WebServer.Response) {
        self.response = response
        MHD_resume_connection(connection)
    }

    func cancel() { work?.cancel() }

    func queue(_ response: WebServer.Response) -> MHD_Result {
        if case .shared(let content) = response.content, let made = content.response {
            return MHD_queue_response(connection, UInt32(response.status), made)
        }
        var status = response.status
        var made: OpaquePointer?
        switch response.content {
        case .bytes(let bytes):
            made = bytes.withUnsafeBytes {
                MHD_create_response_from_buffer(
                    $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
            }
        case .file(let path):
            made = Self.file(at: path)
            if made == nil { status = 404 }
        case .later, .shared: status = 500  // Only the first response may come later; shared content had no memory.
        }
        guard let made = made ?? MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT) else { return .NO }
        defer { MHD_destroy_response(made) }
        for (name, value) in response.headers { _ = MHD_add_response_header(made, name, value) }
        return MHD_queue_response(connection, UInt32(status), made)
    }

    /// The response owns the descriptor and sends from it without a copy here.
    private static func file(at path: String) -> OpaquePointer? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG,
            let response = MHD_create_response_from_fd(Int(facts.st_size), descriptor)
        else {
            close(descriptor)
            return nil
        }
        return response
    }
}
