internal import Images
internal import Posix
internal import Synchronization

/// A check of the first bytes of a large body while the rest waits: they may show that the rest is useless.
///
/// - Concurrency: started on the HTTP client's thread; a task of its own decides.
/// - Failure: a failed check changes nothing, since the whole body is inspected anyway.
final class StartLook: Sendable {
    typealias Judge = @Sendable (OpenFile) async -> RenderFailure?

    /// Bytes to check. Cameras write 100 KiB of metadata before a picture's size.
    static let bytes = 256 << 10
    /// Smallest body to check: a smaller one would save too little.
    static let leastBody = 1 << 20

    enum State {
        case ahead
        case running
        case done(RenderFailure?)
    }

    private let judge: Judge
    private let now = Mutex(State.ahead)

    init(_ judge: @escaping Judge) { self.judge = judge }

    var state: State { now.withLock { $0 } }

    /// Starts the check if enough of a body of up to `most` bytes has arrived; `resume` is called once it is over.
    func begin(_ file: OpenFile, at length: Int, of most: Int, resume: @escaping @Sendable () -> Void) {
        guard length >= Self.bytes, most >= Self.leastBody, case .ahead = state else { return }
        // An inspector never gets a file that is still being written: it might write to it, too.
        guard let start = try? OpenFile(anonymous: "start"),
            let bytes = try? file.bytes(at: 0, count: Self.bytes), (try? start.append(bytes)) != nil
        else {
            now.withLock { $0 = .done(nil) }
            return
        }
        now.withLock { $0 = .running }
        // The client's thread must not wait, and the result of a transfer that ends meanwhile is dropped.
        Task {
            let refusal = await judge(start)
            now.withLock { $0 = .done(refusal) }
            resume()
        }
    }
}
