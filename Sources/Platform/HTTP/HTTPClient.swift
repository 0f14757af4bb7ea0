internal import CCurl
internal import Glibc
internal import Posix
internal import Synchronization

/// HTTP requests over libcurl's multi interface on threads of ours, one for each host in use, bridged to `async`.
///
/// libcurl follows no redirect, requests and decodes no compression (`HeadReader`), and uses no proxy, cookie or
/// password from the environment. All transfers of a client share its connections, so trusted traffic has a client of
/// its own.
///
/// - Ownership: the threads end, and connections close, after the client is released.
/// - Concurrency: any number of transfers at once; a busy host never delays another.
/// - Failure: each transfer ends within its deadlines; a cancelled task ends its transfer at once.
package final class HTTPClient: Sendable {
    private let slots: TransferSlots
    private let identifiers = Atomic<UInt64>(0)

    /// - Parameter connectionsPerHost: further transfers wait; a connection of HTTP/2 carries many.
    package init(connectionsPerHost: Int = 16) {
        _ = Self.library
        slots = TransferSlots(connectionsPerHost: connectionsPerHost)
    }

    deinit { slots.end() }

    package func execute(_ request: HTTPRequest, into sink: any HTTPSink) async throws(HTTPFailure) -> HTTPResponse {
        let id = identifiers.add(1, ordering: .relaxed).newValue
        let slot = slots.take(for: ServerName(of: request.url)?.description ?? "")
        let mailbox = slot.mailbox
        defer { slots.leave(slot) }
        let result: Result<HTTPResponse, HTTPFailure> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                mailbox.post(.start(Transfer(id, request, sink, mailbox) { continuation.resume(returning: $0) }))
                // The cancellation handler may have run before the transfer was posted.
                if Task.isCancelled { mailbox.post(.cancel(id)) }
            }
        } onCancel: {
            mailbox.post(.cancel(id))
        }
        return try result.get()
    }

    private static let library: Void = {
        // libcurl decodes non-ASCII host names in the locale's encoding; "C" would refuse them all.
        if strcmp(setlocale(LC_CTYPE, nil), "C") == 0 { setlocale(LC_CTYPE, "C.UTF-8") }
        ProcessEnvironment.forgetLibraries()
        curl_global_init(Int(CURL_GLOBAL_ALL))
    }()
}

/// A command from another thread to the transfer loop.
enum TransferCommand {
    case start(Transfer)
    case cancel(UInt64)
    case resume(UInt64)
    case stop
}

/// Commands for the transfer loop, and its wake-up.
///
/// - Concurrency: the multi handle belongs to the loop. Other threads use only its wake-up, under the lock, so never
///   after the loop has freed it.
final class TransferMailbox: @unchecked Sendable {
    let multi: UnsafeMutableRawPointer = curl_multi_init()!
    private let state = Mutex<(waiting: [TransferCommand], isClosed: Bool)>(([], false))

    func post(_ command: TransferCommand) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.waiting.append(command)
            if state.waiting.count == 1 { curl_multi_wakeup(multi) }
        }
    }

    func take() -> [TransferCommand] {
        state.withLock { state in
            defer { state.waiting.removeAll(keepingCapacity: true) }
            return state.waiting
        }
    }

    func close() { state.withLock { $0 = ([], true) } }
}
