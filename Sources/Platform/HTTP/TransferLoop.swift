internal import CCurl
internal import Clocks
internal import Posix

/// Drives the transfers of a slot, entirely on its thread.
final class TransferLoop {
    private let mailbox: TransferMailbox
    private let traffic: Traffic
    private let multi: UnsafeMutableRawPointer
    private var live: [UInt64: (handle: EasyHandle, transfer: Transfer)] = [:]
    private var nextLook = Instant.distantPast

    /// Interval at which our own deadlines are checked: libcurl has none for the resolver, the first byte and a queue.
    private static let lookEvery = Duration.milliseconds(50)

    init(_ mailbox: TransferMailbox, _ traffic: Traffic, connectionsPerHost: Int) {
        (self.mailbox, self.traffic, multi) = (mailbox, traffic, mailbox.multi)
        mz_multi_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        mz_multi_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connectionsPerHost)
        mz_multi_long(multi, CURLMOPT_MAXCONNECTS, connectionsPerHost)
    }

    func run() {
        var running: Int32 = 0
        // Commands, including a stop, are read before each poll, or stopping would wait for its timeout.
        while obey() {
            curl_multi_perform(multi, &running)
            reap()
            let now = SystemTime.monotonic
            if now >= nextLook {
                nextLook = now + Self.lookEvery
                for (handle, transfer) in live.values {
                    if let phase = transfer.overdue(at: now) { end(handle, transfer, .failure(.deadline(phase))) }
                }
            }
            curl_multi_poll(multi, nil, 0, live.isEmpty ? 60_000 : 50, nil)
        }
        mailbox.close()
        for (handle, transfer) in live.values { end(handle, transfer, .failure(.cancelled)) }
        curl_multi_cleanup(multi)
    }

    /// Executes pending commands; false once the client is gone.
    private func obey() -> Bool {
        for command in mailbox.take() {
            switch command {
            case .start(let transfer): start(transfer)
            case .cancel(let id):
                if let (handle, transfer) = live[id] { end(handle, transfer, .failure(.cancelled)) }
            case .resume(let id):
                if let (handle, transfer) = live[id] {
                    transfer.resume(at: SystemTime.monotonic)
                    curl_easy_pause(handle.pointer, CURLPAUSE_CONT)
                }
            case .stop: return false
            }
        }
        return true
    }

    private func start(_ transfer: Transfer) {
        let handle = EasyHandle()
        live[transfer.id] = (handle, transfer)
        transfer.configure(handle, traffic)
        curl_multi_add_handle(multi, handle.pointer)
    }

    private func reap() {
        var code = CURLE_OK
        while let pointer = mz_done(multi, &code) {
            var owner: UnsafeMutableRawPointer?
            mz_get_ptr(pointer, CURLINFO_PRIVATE, &owner)
            let transfer = Unmanaged<Transfer>.fromOpaque(owner!).takeUnretainedValue()
            guard let handle = live[transfer.id]?.handle else { continue }
            end(handle, transfer, transfer.result(code, at: SystemTime.monotonic))
        }
    }

    private func end(_ handle: EasyHandle, _ transfer: Transfer, _ result: Result<HTTPResponse, HTTPFailure>) {
        live[transfer.id] = nil
        curl_multi_remove_handle(multi, handle.pointer)
        transfer.finish(transfer.settled(result, at: SystemTime.monotonic))
    }
}

/// A libcurl easy handle and its list of headers, for one transfer.
///
/// A second transfer could read a freed header of the first: 7.88.1 does so if a response's first line is folded.
/// Connections and addresses, which are worth keeping, belong to the multi handle.
///
/// - Ownership: freed by `deinit`, after the handle has left its multi.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private var headers: UnsafeMutablePointer<curl_slist>?

    init() { pointer = curl_easy_init()! }

    deinit {
        curl_easy_cleanup(pointer)
        curl_slist_free_all(headers)
    }

    func set(headers lines: [String]) {
        for line in lines { headers = curl_slist_append(headers, line) }
        mz_set_ptr(pointer, CURLOPT_HTTPHEADER, headers)
    }
}
