internal import Images
internal import Ports
internal import Posix
internal import Synchronization

/// A check of the first bytes of a large body while the rest waits: they may show that the rest is useless.
///
/// - Concurrency: started on the HTTP client's thread; a task of its own decides.
/// - Failure: a failed check changes nothing, since the whole body is inspected anyway.
final class StartLook: Sendable {
    typealias Judge = @Sendable (OpenFile) async -> StartFinding

    /// Bytes to check. Cameras write 100 KiB of metadata before a picture's size.
    static let bytes = 256 << 10
    /// Bytes to check if those do not show the size: editors write more metadata.
    static let moreBytes = 2 << 20

    enum State {
        case ahead(bytes: Int)
        case running
        case done(RenderFailure?)
    }

    private let judge: Judge
    private let now = Mutex(State.ahead(bytes: StartLook.bytes))

    init(_ judge: @escaping Judge) { self.judge = judge }

    var state: State { now.withLock { $0 } }

    /// Starts the check if enough of a body of up to `most` bytes has arrived; `resume` is called once it is over. It
    /// would save too little of a body that is less than four times as long as the checked bytes.
    func begin(_ file: OpenFile, at length: Int, of most: Int, resume: @escaping @Sendable () -> Void) {
        guard case .ahead(let count) = state, length >= count, most >= 4 * count else { return }
        // An inspector never gets a file that is still being written: it might write to it, too.
        guard let start = try? OpenFile(anonymous: "start"),
            let bytes = try? file.bytes(at: 0, count: count), (try? start.append(bytes)) != nil
        else {
            now.withLock { $0 = .done(nil) }
            return
        }
        now.withLock { $0 = .running }
        // The client's thread must not wait, and the result of a transfer that ends meanwhile is dropped.
        Task {
            let next: State =
                switch await judge(start) {
                case .useless(let failure): .done(failure)
                case .unknown where count < Self.moreBytes: .ahead(bytes: Self.moreBytes)
                case .useful, .unknown: .done(nil)
                }
            now.withLock { $0 = next }
            resume()
        }
    }
}
